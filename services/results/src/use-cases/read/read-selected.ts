import { framesAfter } from '../../db/frames.ts';
import { segmentsAfter, segmentsAfterInTime } from '../../db/segments.ts';
import type { FoundSegment, SegmentRange } from '../../db/segments.ts';
import type { Progress } from '../../domain/cursor.ts';
import type { ShownFrame } from '../../domain/page-text.ts';
import type { Selection, TimeRange } from '../../domain/result-query.ts';
import { framesOf, ofRow, onceEach, rangeOf, readLate } from './read-page.ts';
import type { PageFrame, Reading } from './read-page.ts';
import { mayShow, showFrames } from './show-frames.ts';
import type { OpenDeps } from './open-segment.ts';
import type { Shown } from './show-frames.ts';

/** Frames with their shown objects. */
export interface ShownPage {
  frames: ShownFrame[];
  progress: Progress;
  hasMore: boolean;
}

interface Search extends Shown, Pick<Selection, 'times' | 'skipEmpty'> {}

/** Limits of cold segments and of time for a page of a search; at either it returns the frames found so far. */
const MOST_COLD_SEGMENTS = 64;
const MOST_MS = 300;
/** Segments and rows that one step reads. */
const SEGMENTS = 16;
const ROWS = 1000;
/** Cold segments that are opened before it is known whether the page is full. */
const OPEN_AHEAD = 8;

/**
 * Reads the next frames that a reader selects by time or by having objects. The work of a page is bounded, so a page
 * may be short or empty while `hasMore`; its progress is after the last inspected frame, selected or not.
 */
export async function readSelected(
  deps: OpenDeps,
  taskId: string,
  reading: Reading & { search: Search },
): Promise<ShownPage> {
  const range = rangeOf(taskId, reading.task);
  if (!range) return { frames: [], progress: reading.from, hasMore: false };
  const late = await readLate(deps, range, reading);
  const page = new SelectedPage(deps, range, { ...reading, progress: late.progress });
  await page.addLate(late.frames);
  if (late.hasMore || page.isFull) return page.ended(true);
  const { times, skipEmpty } = reading.search;
  // The number of frames to inspect for a page is known only if each of them stays on it.
  const wanted = skipEmpty ? Infinity : reading.limit;
  for (;;) {
    const step = await nextStep(deps, range, { seq: page.seq, times, wanted });
    const isWhole = await page.add(step);
    if (!isWhole) return page.ended(true);
    if (step.upTo === Infinity) return page.ended(false);
  }
}

class SelectedPage {
  readonly #deps: OpenDeps;
  readonly #range: SegmentRange;
  readonly #search: Search;
  readonly #limit: number;
  readonly #endsAt = performance.now() + MOST_MS;
  readonly #opened = new Set<FoundSegment>();
  #frames: ShownFrame[] = [];
  #progress: Progress;

  constructor(
    deps: OpenDeps,
    range: SegmentRange,
    { search, limit, progress }: { search: Search; limit: number; progress: Progress },
  ) {
    this.#deps = deps;
    this.#range = range;
    this.#search = search;
    this.#limit = limit;
    this.#progress = progress;
  }

  get seq(): number {
    return this.#progress.seq;
  }

  get isFull(): boolean {
    return this.#frames.length >= this.#limit;
  }

  ended(hasMore: boolean): ShownPage {
    return { frames: this.#frames, progress: this.#progress, hasMore };
  }

  /** Adds frames up to the number of the reader; the page has room for all of them. */
  async addLate(late: PageFrame[]): Promise<void> {
    this.#frames.push(...(await this.#select(late)));
  }

  /** Adds the selected frames of a step; returns false when the page ends before the end of the step. */
  async add({ frames, upTo }: Step): Promise<boolean> {
    const inTime = frames.filter(({ frameTimeMs }) => isIn(frameTimeMs, this.#search.times));
    let wanted = this.#limit - this.#frames.length;
    for (let at = 0; at < inTime.length;) {
      // A page inspects at least one part, however long it took to find it: every page advances its reader.
      if (at > 0 && this.#isSpent) return false;
      const part = this.#partOf(inTime, at, wanted);
      for (const frame of await this.#select(part)) {
        this.#frames.push(frame);
        this.#progress = { ...this.#progress, seq: frame.seq };
        if (this.#frames.length === this.#limit) return false;
      }
      at += part.length;
      wanted = 4 * part.length;
      this.#progress = { ...this.#progress, seq: part.at(-1)?.seq ?? this.seq };
    }
    const last = upTo === Infinity ? (frames.at(-1)?.seq ?? this.seq) : upTo;
    this.#progress = { ...this.#progress, seq: Math.max(this.seq, last) };
    return !this.#isSpent || upTo === Infinity;
  }

  get #isSpent(): boolean {
    return this.#opened.size >= MOST_COLD_SEGMENTS || performance.now() > this.#endsAt;
  }

  /** The next frames, limited to those of some cold segments. */
  #partOf(frames: PageFrame[], from: number, count: number): PageFrame[] {
    const cold = new Set<FoundSegment>();
    const mostCold = Math.min(OPEN_AHEAD, MOST_COLD_SEGMENTS - this.#opened.size);
    const part: PageFrame[] = [];
    for (const frame of frames.slice(from, from + Math.max(1, count))) {
      const segment = this.#coldSegmentOf(frame);
      if (segment && !cold.has(segment) && cold.size === mostCold) break;
      if (segment) cold.add(segment);
      part.push(frame);
    }
    cold.forEach((segment) => this.#opened.add(segment));
    return part;
  }

  /** The cold segment that has to be opened for a frame. */
  #coldSegmentOf({ objects }: PageFrame): FoundSegment | undefined {
    if (typeof objects === 'string' || objects.segment.objectKey === null) return undefined;
    const { segment, index } = objects;
    return mayShow(segment, this.#search) && (segment.heads[index]?.objects ?? 0) > 0 ? segment : undefined;
  }

  async #select(frames: PageFrame[]): Promise<ShownFrame[]> {
    const { times, skipEmpty, ...shown } = this.#search;
    const inTime = frames.filter(({ frameTimeMs }) => isIn(frameTimeMs, times));
    const all = await showFrames(this.#deps, inTime, shown);
    return skipEmpty ? all.filter(({ json }) => json.length > '[]'.length) : all;
  }
}

export const isIn = (timeMs: number, times: TimeRange | undefined) =>
  times === undefined || (timeMs >= times.fromMs && timeMs < times.toMs);

/** Frames with consecutive numbers; none up to `upTo` is missing. */
export interface Step {
  frames: PageFrame[];
  upTo: number;
}

/**
 * The next frames in any form. Of segments only those in the requested times, from the next one on that has some by the
 * index. Rows are read before segments, as `readPage` does.
 */
export async function nextStep(
  { db }: OpenDeps,
  range: SegmentRange,
  { seq, times, wanted }: { seq: number; times: TimeRange | undefined; wanted: number },
): Promise<Step> {
  const rows = (await framesAfter(db, { ...range, limit: ROWS }, seq)).map(ofRow);
  const rowsUpTo = rows.length === ROWS ? (rows.at(-1)?.seq ?? seq) : Infinity;
  let segments: FoundSegment[];
  let upTo: number;
  let look = SEGMENTS;
  do {
    segments = await (times
      ? segmentsAfterInTime(db, range, { seq, times, limit: look })
      : segmentsAfter(db, range, { seq, limit: look }));
    upTo = segments.length === look ? (segments.at(-1)?.firstSeq ?? seq) - 1 : Infinity;
    look *= 2;
  } while (upTo <= seq);
  const isInStep = (one: PageFrame) => one.seq > seq && one.position <= range.upToPosition;
  const found: PageFrame[] = [];
  let lastSeq = seq;
  for (const segment of segments) {
    // The heads of further segments are not decoded for a page that is full.
    if (found.length >= wanted && segment.firstSeq > lastSeq) {
      upTo = Math.min(upTo, segment.firstSeq - 1);
      break;
    }
    lastSeq = Math.max(lastSeq, segment.lastSeq);
    if (!hasTime(segment, times)) continue;
    for (const one of framesOf(segment)) if (isInStep(one) && isIn(one.frameTimeMs, times)) found.push(one);
  }
  const whole = Math.min(upTo, rowsUpTo);
  return { frames: onceEach([...rows, ...found]).filter((one) => one.seq <= whole), upTo: whole };
}

const hasTime = ({ firstTimeMs, lastTimeMs }: FoundSegment, times: TimeRange | undefined) =>
  times === undefined || (lastTimeMs >= times.fromMs && firstTimeMs < times.toMs);
