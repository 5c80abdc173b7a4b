import type { Knex } from 'knex';
import { coverageOfFold } from '../../db/timeline-hours.ts';
import { snapshotsOf } from '../../db/track-snapshots.ts';
import { findTracks } from '../../db/tracks.ts';
import type { FoundTracks } from '../../db/tracks.ts';
import { decodeMinutes } from '../../domain/fold/hour-codec.ts';
import { copyOf, hourOf, mergeMinute } from '../../domain/fold/minutes.ts';
import type { Minute } from '../../domain/fold/minutes.ts';
import { endOf, isActive, minutesBehind } from '../../domain/fold/track-end.ts';
import type { TaskNow, TrackEnd } from '../../domain/fold/track-end.ts';
import { isShown } from '../../domain/fold/tracks.ts';
import type { TrackFacts } from '../../domain/fold/tracks.ts';
import { refuseNegative } from '../../domain/query-text.ts';
import type { ReadableTask } from '../../domain/task-view.ts';
import type { TrackKey, TrackQuery, TrackRequest } from '../../domain/track-query.ts';
import { snapshotOf } from '../../domain/track-snapshot.ts';
import type { StoredSnapshot, TrackSnapshot } from '../../domain/track-snapshot.ts';
import type { Deps } from '../deps.ts';
import { findFolded } from './find-task.ts';
import { readFold } from './read-fold.ts';
import type { FoldView, ReadFoldDeps } from './read-fold.ts';

export type TrackDeps = ReadFoldDeps & Pick<Deps, 'settings' | 'taskOwners' | 'trackCursors'>;

/** A track in the form for callers. */
export interface ShownTrack extends TrackFacts {
  endedBy: TrackEnd | undefined;
  snapshot: TrackSnapshot;
}

export interface TrackList {
  items: ShownTrack[];
  nextCursor: string;
  resumeCursor: string;
  asOfMs: number | null;
}

/** Start of every list of tracks: tracks of uploads may have negative times. */
const BEFORE_ALL: TrackKey = { value: Number.MIN_SAFE_INTEGER, trackId: '' };

/** One page of the tracks of a task. */
export async function listTracks(
  deps: TrackDeps,
  { subject, taskId, query: asked }: { subject: string; taskId: string; query: TrackRequest },
): Promise<TrackList> {
  const { task, fold } = await findFolded(deps, subject, taskId);
  refuseNegative(task.kind, asked);
  const after = asked.cursor === undefined ? undefined : deps.trackCursors.decode(taskId, asked.order, asked.cursor);
  const threshold = thresholdOf(task);
  const query: TrackQuery = { ...asked, after, threshold, minScore: asked.minScore ?? threshold };
  const isComplete = task.is_complete || task.is_long_over;
  const limit = asked.limit + 1;
  let stored: FoundTracks = { page: [], own: [], images: new Map() };
  const readRows = async (db: Knex, ofDay: { day: string; taskId: string }, own: string[]) => {
    stored = await findTracks(db, ofDay, { query, limit, own });
    return stored.own;
  };
  const show = async (view: FoldView, db: Knex): Promise<TrackList> => {
    // Changes come in the order of storing, which is known once every frame was read.
    const isReadable = view.isWhole || query.order !== 'changed';
    const found = isReadable ? pageOf(stored.page, { task, view, query, limit }) : [];
    const page = found.slice(0, asked.limit);
    const hasMore = found.length > asked.limit;
    const now = nowOf(view, isComplete);
    const { images } = stored;
    const shown = await showTracks(db, { ...shownOf(deps, task), taskId, view, now, tracks: page, images });
    const items = asked.state === undefined ? shown : shown.filter((one) => stateOf(one) === asked.state);
    const encode = (key: TrackKey) => deps.trackCursors.encode(taskId, query.order, key);
    const last = page.at(-1);
    const end = last ? encode(keyOf(query, last)) : (asked.cursor ?? encode(BEFORE_ALL));
    const isOver = isComplete && view.isWhole && !hasMore;
    const allSeen = query.order === 'changed' && view.isWhole && !hasMore;
    const resume = allSeen ? encode({ value: view.position + 1, trackId: '' }) : end;
    return {
      items,
      nextCursor: hasMore ? end : '',
      resumeCursor: isOver || query.order === 'newest' ? '' : resume,
      asOfMs: view.newestMs ?? null,
    };
  };
  return readFold(deps, taskId, show, { found: fold, readRows });
}

/** The score, in millionths, from which objects of a task are shown by default. */
export const thresholdOf = (task: ReadableTask): number => Math.ceil(task.default_min_score * 1e6 - 1e-6);

export const stateOf = ({ endedBy }: ShownTrack): 'active' | 'ended' => (endedBy === undefined ? 'active' : 'ended');

/** Facts that decide the state of the tracks of a view. */
export const nowOf = (view: FoldView, isComplete: boolean): TaskNow => ({
  newestMs: view.newestMs ?? -Infinity,
  attempts: view.attempts,
  trackEndsAfterMs: view.pace.trackEndsAfterMs,
  isComplete: isComplete && view.isWhole,
});

interface PageParts {
  task: ReadableTask;
  view: FoldView;
  query: TrackQuery;
  limit: number;
}

/** Stored tracks, merged with their frames that are not in their rows yet. */
function pageOf(stored: TrackFacts[], { task, view, query, limit }: PageParts): TrackFacts[] {
  const now = nowOf(view, task.is_complete || task.is_long_over);
  const own = [...view.tracks.values()]
    // The end of the task changes the tracks that it ended.
    .map((track) => (now.isComplete && !endedBefore(track, now) ? { ...track, changed: view.position + 1 } : track))
    .filter((track) => isWanted(track, query));
  return [...stored, ...own].sort((a, b) => compareKeys(query, keyOf(query, a), keyOf(query, b))).slice(0, limit);
}

const endedBefore = (track: TrackFacts, now: TaskNow) => !isActive(track, { ...now, isComplete: false });

function isWanted(track: TrackFacts, query: TrackQuery): boolean {
  const { first, last, best, label } = track;
  return (
    isShown(track, query.threshold) &&
    best.score >= query.minScore &&
    last.timeMs - first.timeMs >= query.minDurationMs &&
    (query.labels === undefined || query.labels.includes(label)) &&
    (query.fromMs === undefined || last.timeMs >= query.fromMs) &&
    (query.toMs === undefined || first.timeMs < query.toMs) &&
    (query.after === undefined || compareKeys(query, keyOf(query, track), query.after) > 0)
  );
}

const keyOf = ({ order }: TrackQuery, { changed, first, trackId }: TrackFacts): TrackKey => ({
  value: order === 'changed' ? changed : first.timeMs,
  trackId,
});

/** Ids hold ASCII characters only, so the database sorts them in the same order. */
function compareKeys({ order }: TrackQuery, a: TrackKey, b: TrackKey): number {
  const ascending = a.value - b.value || (a.trackId < b.trackId ? -1 : a.trackId > b.trackId ? 1 : 0);
  return order === 'newest' ? -ascending : ascending;
}

interface ShowOptions {
  taskId: string;
  task: ReadableTask;
  snapshotDays: number;
  view: FoldView;
  now: TaskNow;
  tracks: TrackFacts[];
  /** For tracks whose images were read with them. */
  images?: ReadonlyMap<string, StoredSnapshot | undefined>;
}

const NO_IMAGES: ReadonlyMap<string, StoredSnapshot | undefined> = new Map();

export const shownOf = ({ settings }: Pick<Deps, 'settings'>, task: ReadableTask) => ({
  task,
  snapshotDays: settings.snapshotDays,
});

/** Tracks with the reason of their end, and the state of their images. */
export async function showTracks(db: Knex, options: ShowOptions): Promise<ShownTrack[]> {
  const { taskId, view, now, tracks, images: known = NO_IMAGES } = options;
  const wanted = new Set(tracks.filter((track) => !isActive(track, now)).flatMap((track) => minutesBehind(track, now)));
  const minutes = copyOf(new Map([...view.state.minutes].filter(([start]) => wanted.has(start))));
  const hours = [...new Set([...wanted].map(hourOf))];
  const others = tracks.map(({ trackId }) => trackId).filter((id) => !known.has(id));
  // The hours are the last rows of the fold that are read.
  const [coverage, images] = await Promise.all([
    coverageOfFold(db, { day: view.day, taskId }, hours),
    snapshotsOf(db, taskId, others),
  ]);
  view.noteRevision(coverage.revision);
  for (const hour of coverage.hours)
    for (const [start, minute] of decodeMinutes({ ...hour, minutes: null }))
      if (wanted.has(start)) mergeInto(minutes, start, minute);
  return tracks.map((track) => ({
    ...track,
    endedBy: isActive(track, now) ? undefined : endOf(track, now, minutes),
    snapshot: imageOf(track, known.get(track.trackId) ?? images.get(track.trackId), options),
  }));
}

/** Time within which images of an ended track arrive. */
const AWAITED_MS = 10_000;

function imageOf(
  track: TrackFacts,
  stored: StoredSnapshot | undefined,
  { task, snapshotDays, now }: ShowOptions,
): TrackSnapshot {
  const sinceMs = now.newestMs - track.last.timeMs;
  const hasJustEnded = now.isComplete ? task.is_just_over : sinceMs < now.trackEndsAfterMs + AWAITED_MS;
  return snapshotOf({
    stored,
    mode: task.snapshots ?? undefined,
    frames: track.frames,
    bestScore: track.best.score,
    threshold: thresholdOf(task),
    isActive: isActive(track, now),
    isAwaited: hasJustEnded,
    snapshotDays,
    resultExpiresAt: task.result_expires_at,
  });
}

/** Adds the facts of a minute to those of its start. */
function mergeInto(minutes: Map<number, Minute>, start: number, minute: Minute): void {
  const known = minutes.get(start);
  if (known) mergeMinute(known, minute);
  else minutes.set(start, minute);
}
