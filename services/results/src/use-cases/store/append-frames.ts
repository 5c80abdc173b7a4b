import type { Knex } from 'knex';
import { adoptRows, presentRows } from '../../db/frames.ts';
import { inlineSegment, insertSegments, saveHeads, segmentsAround } from '../../db/segments.ts';
import type { AskedNumbers, FoundSegment, NewSegment } from '../../db/segments.ts';
import { framesWith, classifyDoubtful } from '../../domain/plan-storing.ts';
import type { Doubtful, FrameRow, PresentFrame } from '../../domain/plan-storing.ts';
import { encodeHeads } from '@vision/contracts/segments/head';
import { checksumOf } from '@vision/contracts/segments/pack';
import { encodeSegment, splitIntoSegments } from '../../domain/segments/segment.ts';

export interface AppendedFrames {
  /** Tasks that got segments. */
  hot: string[];
  /** Number of written frames of each task. */
  written: Map<string, number>;
}

/** Stores frames that are not stored yet. */
export async function appendFrames(tx: Knex.Transaction, frames: FrameRow[]): Promise<AppendedFrames> {
  const byTask = framesByTask(frames);
  const inserted = await insertSegments(tx, [...byTask.values()].flatMap(hotSegmentsOf));
  const written = new Map<string, number>();
  for (const { taskId, frames: count } of inserted) written.set(taskId, (written.get(taskId) ?? 0) + count);
  return { hot: [...byTask.keys()], written };
}

function hotSegmentsOf(frames: FrameRow[]): NewSegment[] {
  const [first] = frames;
  if (!first) return [];
  const inOrder = frames.toSorted((a, b) => a.seq - b.seq);
  return splitIntoSegments(inOrder).map((run) => {
    const segment = encodeSegment(run, 'fast');
    return inlineSegment(first, segment, checksumOf(segment.body));
  });
}

function framesByTask(frames: FrameRow[]): Map<string, FrameRow[]> {
  const byTask = new Map<string, FrameRow[]>();
  for (const frame of frames) {
    const own = byTask.get(frame.taskId);
    if (own) own.push(frame);
    else byTask.set(frame.taskId, [frame]);
  }
  return byTask;
}

/**
 * Determines which of these frames are already stored, as rows or in segments; their tasks are locked. The same frame
 * of an older attempt counts for the newer one from now on. Needs no object store: the compared fields are in the
 * database.
 * @returns the outcome of each frame, without repeats; those `inserted` are still to be stored
 */
export async function settleDoubtful(tx: Knex.Transaction, frames: FrameRow[]): Promise<Doubtful[]> {
  if (frames.length === 0) return [];
  const rows = await presentRows(tx, frames);
  const segments = await segmentsAround(tx, [...framesByTask(frames).values()].flatMap(askedOf), 'heads only');
  const outcomes = classifyDoubtful(frames, [...rows, ...segments.flatMap(presentIn)]);
  const adopted = framesWith(frames, outcomes, 'adopted');
  await adoptRows(tx, adopted);
  await adoptInSegments(tx, segments, adopted);
  return outcomes;
}

function askedOf(frames: FrameRow[]): AskedNumbers[] {
  const [first] = frames;
  return first ? [{ day: first.day, taskId: first.taskId, seqs: frames.map(({ seq }) => seq) }] : [];
}

const presentIn = ({ taskId, heads }: FoundSegment): PresentFrame[] =>
  heads.map(({ seq, attempt, frameTimeMs, width, height }) => ({ taskId, seq, attempt, frameTimeMs, width, height }));

async function adoptInSegments(tx: Knex.Transaction, segments: FoundSegment[], frames: FrameRow[]): Promise<void> {
  const attempts = new Map(frames.map(({ taskId, seq, attempt }) => [`${taskId}/${seq}`, attempt]));
  for (const segment of segments) {
    const { taskId, heads } = segment;
    if (!heads.some(({ seq }) => attempts.has(`${taskId}/${seq}`))) continue;
    const changed = heads.map((head) => ({ ...head, attempt: attempts.get(`${taskId}/${head.seq}`) ?? head.attempt }));
    await saveHeads(tx, segment, encodeHeads(changed, segment.objectKey === null ? 'fast' : 'small'), changed);
  }
}
