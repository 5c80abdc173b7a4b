import { framesAfter } from '../../db/frames.ts';
import { segmentsInTime } from '../../db/segments.ts';
import type { FoundSegment, SegmentRange } from '../../db/segments.ts';
import type { Progress } from '../../domain/cursor.ts';
import type { Span } from '../../domain/fold/coverage.ts';
import { addFrame, emptyMinute, FrameCounter } from '../../domain/fold/minutes.ts';
import type { Minute } from '../../domain/fold/minutes.ts';
import { SECOND_BUCKET } from '../../domain/timeline-query.ts';
import { openFrames } from './fold-pages.ts';
import type { OpenDeps } from './open-segment.ts';
import { framesOf, ofRow } from './read-page.ts';
import type { PageFrame } from './read-page.ts';

const ROWS = 1_000;
const SEGMENTS = 16;
const FIRST = { firstSeq: -1, id: '00000000-0000-0000-0000-000000000000' };

/**
 * Frames and objects of each second of a period, by its start, counted from the frames that a reader at `progress` has
 * received. Rows are read before segments, as `readPage` does.
 */
export async function countSeconds(
  deps: OpenDeps,
  task: { day: string; taskId: string },
  { progress, times, signal }: { progress: Progress; times: Span; signal: AbortSignal },
): Promise<Map<number, Minute>> {
  const range: SegmentRange = { ...task, upToPosition: progress.position };
  const counter = new FrameCounter();
  const seconds = new Map<number, Minute>();
  const seen = new Set<number>();
  const isCounted = ({ seq, position, frameTimeMs }: PageFrame) =>
    seq <= progress.seq && position <= progress.position && frameTimeMs >= times.fromMs && frameTimeMs < times.toMs;
  const count = async (frames: PageFrame[]) => {
    const next = frames.filter((one) => isCounted(one) && !seen.has(one.seq));
    signal.throwIfAborted();
    for (const { seq, timeMs, eachObject } of await openFrames(deps, next, { signal })) {
      if (seen.has(seq)) continue;
      seen.add(seq);
      const start = Math.floor(timeMs / SECOND_BUCKET) * SECOND_BUCKET;
      const second = seconds.get(start) ?? emptyMinute();
      seconds.set(start, second);
      eachObject((object) => counter.add(object));
      addFrame(second, timeMs);
      counter.flushTo(second);
    }
  };
  for (let seq = -1; ;) {
    const rows = await framesAfter(deps.db, { ...range, limit: ROWS }, seq);
    await count(rows.map(ofRow));
    seq = rows.at(-1)?.seq ?? seq;
    if (rows.length < ROWS) break;
  }
  for (let after = FIRST; ;) {
    const segments = await segmentsInTime(deps.db, range, { times, after, limit: SEGMENTS });
    await count(segments.flatMap((one: FoundSegment) => framesOf(one)));
    const last = segments.at(-1);
    if (!last) return seconds;
    after = { firstSeq: last.firstSeq, id: last.id };
  }
}
