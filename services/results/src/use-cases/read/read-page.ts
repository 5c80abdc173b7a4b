import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import { framesAfter, framesOfNumbers, lateFrames, listedLateFrames } from '../../db/frames.ts';
import type { StoredFrame } from '../../db/frames.ts';
import { segmentsAfter, segmentsAround } from '../../db/segments.ts';
import type { FoundSegment, SegmentRange } from '../../db/segments.ts';
import type { Progress } from '../../domain/cursor.ts';
import type { FrameState, ReadableTask } from '../../domain/task-view.ts';
import type { Deps } from '../deps.ts';

/** A frame of a page, before its objects are decoded. */
export interface PageFrame {
  seq: number;
  position: number;
  frameTimeMs: number;
  width: number;
  height: number;
  /** Its objects in a row, or their location in a segment. */
  objects: string | { segment: FoundSegment; index: number };
}

/** The next read of a reader. */
export interface Reading<Task = ReadableTask> {
  task: Task;
  from: Progress;
  limit: number;
}

export interface Page {
  frames: PageFrame[];
  progress: Progress;
  hasMore: boolean;
}

/**
 * The state of the task was read first. Only frames at its `position` or before are returned, so the new progress is
 * exact. An end-of-stream marker in that state had all its frames stored before.
 */
export async function readPage(
  deps: Pick<Deps, 'db'>,
  taskId: string,
  { task, from, limit }: Reading<FrameState>,
): Promise<Page> {
  const range = rangeOf(taskId, task);
  if (!range) return { frames: [], progress: from, hasMore: false };
  const late = await readLate(deps, range, { task, from, limit });
  if (late.hasMore) return { ...late, frames: bySeq(late.frames) };
  const room = limit - late.frames.length;
  const next = await findNext(deps.db, range, { seq: from.seq, limit: room + 1 });
  const frames = next.slice(0, room);
  const progress = { ...late.progress, seq: frames.at(-1)?.seq ?? from.seq };
  return { frames: [...bySeq(late.frames), ...frames], progress, hasMore: next.length > room };
}

/** Range of the stored frames of a task when it was read; undefined without frames. */
export function rangeOf(taskId: string, task: FrameState): SegmentRange | undefined {
  const day = dayOfTask(taskId);
  return day === undefined || task.position === 0 ? undefined : { day, taskId, upToPosition: task.position };
}

/**
 * Frames up to the number of the reader that were stored after its position, in the order of storing. Without more of
 * them the reader has every stored frame up to its number.
 */
export async function readLate(
  { db }: Pick<Deps, 'db'>,
  range: SegmentRange,
  { task, from, limit }: Reading<FrameState>,
): Promise<Page> {
  const mayBeLate = from.seq >= 0 && task.late_position > from.position;
  const late = mayBeLate ? await findLate(db, range, { from, limit: limit + 1, isListed: task.is_late_listed }) : [];
  const frames = late.slice(0, limit);
  if (late.length > limit)
    return { frames, progress: { ...from, position: frames.at(-1)?.position ?? from.position }, hasMore: true };
  return { frames, progress: { ...from, position: Math.max(from.position, task.position) }, hasMore: false };
}

/**
 * The frames with the next larger numbers, in both stored forms. Rows are read first: a frame that is moved in between,
 * always from a row to a segment, is read twice and never missed.
 */
async function findNext(
  db: Knex,
  range: SegmentRange,
  { seq, limit }: { seq: number; limit: number },
): Promise<PageFrame[]> {
  const rows = (await framesAfter(db, { ...range, limit }, seq)).map(ofRow);
  return onceEach([...rows, ...(await findInSegments(db, range, { seq, limit }))]).slice(0, limit);
}

/** Segments of the first query: large ones fill a page, and so do hot ones of a task whose frames come in batches. */
const firstLook = (limit: number) => LOOK_BEYOND + Math.ceil(limit / 50);
const LOOK_BEYOND = 2;
const MOST_AT_ONCE = 512;

async function findInSegments(
  db: Knex,
  range: SegmentRange,
  { seq, limit }: { seq: number; limit: number },
): Promise<PageFrame[]> {
  const frames: PageFrame[] = [];
  let seen = seq;
  let look = firstLook(limit);
  for (;;) {
    const segments = await segmentsAfter(db, range, { seq: seen, limit: look });
    const last = segments.at(-1);
    const hasMore = segments.length === look;
    // Segments beyond this query begin at the last one or later, so only lower numbers are known to be complete.
    const wholeUpTo = hasMore && last ? last.firstSeq - 1 : Infinity;
    const next = firstFrames(segments, range, { seq: seen, limit: limit - frames.length });
    const found = next.filter((one) => one.seq <= wholeUpTo);
    frames.push(...found);
    if (!hasMore || frames.length >= limit) return bySeq(frames);
    seen = Math.max(seen, wholeUpTo);
    const perSegment = Math.max(1, found.length / segments.length);
    const needed = Math.ceil((limit - frames.length) / perSegment) + LOOK_BEYOND;
    look = found.length === 0 ? 2 * look : Math.min(needed, MOST_AT_ONCE);
  }
}

/** The frames of these segments after `seq`. Segments after the one that completes the page are not opened. */
function firstFrames(
  segments: FoundSegment[],
  { upToPosition }: SegmentRange,
  { seq, limit }: { seq: number; limit: number },
): PageFrame[] {
  const frames: PageFrame[] = [];
  let lastSeq = seq;
  for (const segment of segments) {
    if (frames.length >= limit && segment.firstSeq > lastSeq) break;
    for (const one of framesOf(segment)) if (one.seq > seq && one.position <= upToPosition) frames.push(one);
    lastSeq = Math.max(lastSeq, segment.lastSeq);
  }
  return frames;
}

interface LateSearch {
  from: Progress;
  limit: number;
  isListed: boolean;
}

/** Frames up to the number of the reader that were stored after its position, in the order of storing. */
async function findLate(db: Knex, range: SegmentRange, { from, limit, isListed }: LateSearch): Promise<PageFrame[]> {
  if (!isListed) return (await lateFrames(db, { ...range, limit }, from)).map(ofRow);
  const seqs = (await listedLateFrames(db, { ...range, limit }, from)).map(({ seq }) => seq);
  const wanted = new Set(seqs);
  const rows = (await framesOfNumbers(db, range, seqs)).map(ofRow);
  const segments = await segmentsAround(db, [{ ...range, seqs }], 'with bodies');
  const inSegments = segments.flatMap(framesOf).filter(({ seq }) => wanted.has(seq));
  return onceEach([...rows, ...inSegments]).toSorted((a, b) => a.position - b.position);
}

export const ofRow = ({ frame_time_ms: frameTimeMs, ...row }: StoredFrame): PageFrame => ({ frameTimeMs, ...row });

export const framesOf = (segment: FoundSegment): PageFrame[] =>
  segment.heads.map(({ seq, position, frameTimeMs, width, height }, index) => ({
    seq,
    position,
    frameTimeMs,
    width,
    height,
    objects: { segment, index },
  }));

const bySeq = (frames: PageFrame[]) => frames.toSorted((a, b) => a.seq - b.seq);

export const onceEach = (frames: PageFrame[]) =>
  bySeq([...new Map(frames.map((frame) => [frame.seq, frame])).values()]);
