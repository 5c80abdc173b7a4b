import type { Knex } from 'knex';
import { tracksBegunIn } from '../../db/tracks.ts';
import { inOrder, spansWithFrames } from '../../domain/fold/coverage.ts';
import type { Coverage, Span } from '../../domain/fold/coverage.ts';
import { countTrack } from '../../domain/fold/hours.ts';
import { addBegun, BIN_MILLIONTHS, copyOf, emptyMinute, HOUR_MS } from '../../domain/fold/minutes.ts';
import type { Minute } from '../../domain/fold/minutes.ts';
import { binsFrom } from '../../domain/fold/summary.ts';
import { explainGaps } from '../../domain/gap-reasons.ts';
import type { Gap } from '../../domain/gap-reasons.ts';
import { refuseNegative } from '../../domain/query-text.ts';
import { Buckets, coverageWithin, lifeWithin } from '../../domain/timeline.ts';
import type { Bucket } from '../../domain/timeline.ts';
import { rangeOf, SECOND_BUCKET } from '../../domain/timeline-query.ts';
import type { TimelineRange, TimelineRequest } from '../../domain/timeline-query.ts';
import { countSeconds } from './count-seconds.ts';
import type { Deps } from '../deps.ts';
import { findSource, isUnstarted, lifeOfView, listSourceStates } from './find-source.ts';
import type { FoundSource } from './find-source.ts';
import { thresholdOf } from './list-tracks.ts';
import { readFold } from './read-fold.ts';
import type { FoldView, ReadFoldDeps } from './read-fold.ts';
import { readHours, runsOf } from './read-hours.ts';

export type TimelineDeps = ReadFoldDeps & Pick<Deps, 'settings' | 'taskOwners' | 'timelines'>;

export interface TimelineQuery {
  subject: string;
  taskId: string;
  query: TimelineRequest;
  /** Aborted when the caller no longer waits. */
  signal: AbortSignal;
}

/** The objects that a camera or video showed over time, and when there were frames. */
export interface Timeline {
  bucketMs: number;
  /** In millionths. */
  minScore: number;
  asOfMs: number | null;
  coverage: Coverage;
  items: Bucket[];
  gaps: Gap[];
}

/** The timeline of a task: exact for all frames up to `asOfMs`. @throws AppError `too_many_buckets`, not found */
export async function getTimeline(deps: TimelineDeps, request: TimelineQuery): Promise<Timeline> {
  const { subject, taskId, signal } = request;
  const found = await findSource(deps, subject, taskId);
  refuseNegative(found.kind, request.query);
  return deps.timelines.run(() => timelineOf(deps, request, found), { signal, owner: subject });
}

async function timelineOf(
  deps: TimelineDeps,
  { taskId, query, signal }: TimelineQuery,
  { task, record, kind }: FoundSource,
): Promise<Timeline> {
  const states = await listSourceStates(deps, taskId, kind);
  const threshold = thresholdOf(task);
  const minScore = query.minScore ?? Math.floor(threshold / BIN_MILLIONTHS) * BIN_MILLIONTHS;
  const read = await readFold(deps, taskId, async (view, db) => {
    const life = lifeOfView(view, { taskId, record, kind });
    const range = rangeOf(query, life, kind);
    const buckets = new Buckets(range, binsFrom(minScore, threshold));
    const runs = await countHours(db, { taskId, view, range, buckets, signal });
    const span = lifeWithin(life, range);
    const seconds = view.pace.coveredSeconds;
    const coverage = coverageWithin(span, runs, { seconds, each: (one) => buckets.cover(one) });
    const tracks = range.bucketMs === SECOND_BUCKET ? await tracksIn(db, { taskId, view, range }) : [];
    return { view, range, buckets, coverage, tracks };
  });
  const { view, range, buckets, coverage, tracks } = read;
  if (range.bucketMs === SECOND_BUCKET) {
    const { day, progress } = view;
    const counted = await countSeconds(deps, { day, taskId }, { progress, times: range, signal });
    for (const [start, second] of counted) buckets.add(start, second);
    for (const [start, second] of tracks) buckets.add(start, second);
  }
  return {
    bucketMs: range.bucketMs,
    minScore,
    asOfMs: view.newestMs ?? null,
    coverage,
    items: buckets.summaries(),
    gaps: explainGaps(coverage.gaps, states, { kind, isUnstarted: isUnstarted(record) }),
  };
}

interface RangeOfView {
  taskId: string;
  view: FoldView;
  range: TimelineRange;
}

/** Adds the minutes and tracks of the view that are not stored yet to the buckets. */
function countState(view: FoldView, buckets: Buckets): void {
  const own = copyOf(view.state.minutes);
  for (const [trackId, track] of view.tracks) countTrack(own, track, view.rows.get(trackId));
  for (const [start, minute] of own) buckets.add(start, minute);
}

/**
 * The runs of seconds with frames around a range, in order; their counts go to the buckets, unless these are smaller
 * than a minute. Whole hours are used as they are stored.
 */
async function countHours(
  db: Knex,
  { taskId, view, range, buckets, signal }: RangeOfView & { buckets: Buckets; signal: AbortSignal },
): Promise<Iterable<Span>> {
  const isCounted = range.bucketMs !== SECOND_BUCKET;
  if (isCounted) countState(view, buckets);
  const withMinutes = isCounted && range.bucketMs < HOUR_MS;
  const hours = await readHours(db, { taskId, view, span: range, withMinutes, bins: buckets.bins, signal });
  for (const { hourMs, frames, labels, minutes } of isCounted ? hours : []) {
    if (!withMinutes) buckets.addSummaries(hourMs, { frames, labels });
    for (const [start, minute] of minutes ?? []) buckets.add(start, minute);
  }
  return inOrder(runsOf(hours), spansWithFrames(view.state.minutes));
}

/** Tracks that began in a range, by the second. */
async function tracksIn(db: Knex, { taskId, view, range }: RangeOfView): Promise<[number, Minute][]> {
  const without = [...view.tracks.keys()];
  const stored = await tracksBegunIn(db, { day: view.day, taskId }, { times: range, without });
  const own = [...view.tracks.values()].map((track) => ({ ...track, firstTimeMs: track.first.timeMs }));
  return [...stored, ...own].map((track) => {
    const second = emptyMinute();
    addBegun(second, track, 1);
    return [Math.floor(track.firstTimeMs / SECOND_BUCKET) * SECOND_BUCKET, second];
  });
}
