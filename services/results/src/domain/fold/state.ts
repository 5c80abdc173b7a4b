import { addFrame, emptyMinute, FrameCounter, minuteOf } from './minutes.ts';
import type { Minute } from './minutes.ts';
import type { Pace } from './pace.ts';
import { addObject, attemptOf, beginTrack, isTrackId, mergeTracks } from './tracks.ts';
import type { ObjectView, TrackFacts } from './tracks.ts';

/** A frame as the fold reads it. */
export interface FoldedFrame {
  seq: number;
  position: number;
  timeMs: number;
  eachObject: (take: (object: ObjectView) => void) => void;
}

/**
 * Facts about a task beyond the stored rows of tracks and hours. All of them are commutative: frames may come in any
 * order and in any portions, each once.
 */
export interface FoldState {
  oldestMs: number | undefined;
  newestMs: number | undefined;
  /** First time of an object of each of the latest attempts. */
  attempts: Map<number, number>;
  /** Tracks that have not ended, each with the frames that are in no stored row. */
  open: Map<string, TrackFacts>;
  /** The same for tracks that ended since the state was stored. */
  ended: Map<string, TrackFacts>;
  /** Facts that are in no stored hour yet, by the start of the minute. */
  minutes: Map<number, Minute>;
}

export const emptyState = (): FoldState => ({
  oldestMs: undefined,
  newestMs: undefined,
  attempts: new Map(),
  open: new Map(),
  ended: new Map(),
  minutes: new Map(),
});

const MOST_ATTEMPTS = 64;
/** More open tracks than any scene has; above this number they are stored although they have not ended. */
const MOST_OPEN = 4_000;

/** Adds frames to the state, in place. */
export function foldFrames(state: FoldState, frames: readonly FoldedFrame[], { trackEndsAfterMs }: Pace): void {
  const counter = new FrameCounter();
  /** Next check of tracks: from this time on, or because a track of another attempt began. */
  const next = { endsFromMs: -Infinity, mayEndOthers: false };
  let frame: FoldedFrame;
  const take = (object: ObjectView) => {
    counter.add(object);
    const known = state.open.get(object.trackId);
    if (known) addObject(known, object, frame);
    else if (isTrackId(object.trackId)) {
      state.open.set(object.trackId, beginTrack(object, frame));
      noteAttempt(state, object.trackId, frame.timeMs);
      // The frame may end tracks of an earlier attempt, or belong to one.
      next.mayEndOthers ||= state.attempts.size > 1;
      next.endsFromMs = Math.min(next.endsFromMs, frame.timeMs + trackEndsAfterMs);
    }
  };
  for (frame of frames.toSorted((a, b) => a.position - b.position)) {
    frame.eachObject(take);
    const { timeMs, position } = frame;
    state.oldestMs = Math.min(state.oldestMs ?? timeMs, timeMs);
    const newestMs = (state.newestMs = Math.max(state.newestMs ?? timeMs, timeMs));
    const minute = minuteAt(state.minutes, timeMs);
    addFrame(minute, timeMs);
    counter.flushTo(minute);
    if (newestMs < next.endsFromMs && !next.mayEndOthers && state.open.size <= MOST_OPEN) continue;
    next.endsFromMs = endTracks(state, { position, trackEndsAfterMs });
    next.mayEndOthers = false;
  }
}

/** The facts of the minute that a time is in. */
export function minuteAt(minutes: Map<number, Minute>, timeMs: number): Minute {
  const start = minuteOf(timeMs);
  let minute = minutes.get(start);
  if (!minute) minutes.set(start, (minute = emptyMinute()));
  return minute;
}

/** Moves tracks that have ended out of the open ones; returns the time from which the next one may end. */
function endTracks(
  state: FoldState,
  { position, trackEndsAfterMs }: { position: number; trackEndsAfterMs: number },
): number {
  const newestMs = state.newestMs ?? -Infinity;
  const isFull = state.open.size > MOST_OPEN;
  let next = Infinity;
  for (const track of state.open.values()) {
    if (!isFull && !hasEnded(track, { newestMs, attempts: state.attempts, trackEndsAfterMs })) {
      next = Math.min(next, track.last.timeMs + trackEndsAfterMs);
      continue;
    }
    track.changed = Math.max(track.changed, position);
    state.open.delete(track.trackId);
    const known = state.ended.get(track.trackId);
    state.ended.set(track.trackId, known ? mergeTracks(known, track) : track);
    noteAttempt(state, track.trackId, track.first.timeMs);
  }
  return next;
}

/** Facts that decide whether a track has ended. */
export interface Surroundings extends Pick<Pace, 'trackEndsAfterMs'> {
  newestMs: number;
  attempts: ReadonlyMap<number, number>;
}

/** Whether a track has ended although its task continues. */
export function hasEnded(track: Pick<TrackFacts, 'trackId' | 'last'>, around: Surroundings): boolean {
  return around.newestMs >= track.last.timeMs + around.trackEndsAfterMs || isOfPastAttempt(track, around);
}

/** Whether a newer attempt had its first object before the track would have ended by itself. */
export function isOfPastAttempt(
  { trackId, last }: Pick<TrackFacts, 'trackId' | 'last'>,
  { attempts, trackEndsAfterMs }: Pick<Surroundings, 'attempts' | 'trackEndsAfterMs'>,
): boolean {
  const own = attemptOf(trackId);
  if (own === undefined || attempts.size < 2) return false;
  for (const [attempt, firstMs] of attempts)
    if (attempt > own && firstMs <= last.timeMs + trackEndsAfterMs) return true;
  return false;
}

function noteAttempt({ attempts }: Pick<FoldState, 'attempts'>, trackId: string, timeMs: number): void {
  const attempt = attemptOf(trackId);
  if (attempt === undefined) return;
  attempts.set(attempt, Math.min(attempts.get(attempt) ?? timeMs, timeMs));
  if (attempts.size > MOST_ATTEMPTS) attempts.delete(Math.min(...attempts.keys()));
}

/** First times of attempts, including those of tracks that are still open. */
export function attemptsOf(state: FoldState): Map<number, number> {
  const attempts = new Map(state.attempts);
  for (const track of state.open.values()) noteAttempt({ attempts }, track.trackId, track.first.timeMs);
  return attempts;
}
