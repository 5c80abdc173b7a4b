import { minuteOf } from './minutes.ts';
import type { Minute } from './minutes.ts';
import type { Pace } from './pace.ts';
import { hasEnded, isOfPastAttempt } from './state.ts';
import type { Surroundings } from './state.ts';
import type { TrackFacts } from './tracks.ts';

export const trackEnds = ['left', 'gap', 'attempt', 'task_end'] as const;
export type TrackEnd = (typeof trackEnds)[number];

/** Facts of a task that decide the state of its tracks. */
export interface TaskNow extends Surroundings {
  /** No frame follows. */
  isComplete: boolean;
}

/** Whether a track is active now. */
export const isActive = (track: Pick<TrackFacts, 'trackId' | 'last'>, now: TaskNow): boolean =>
  !now.isComplete && !hasEnded(track, now);

/** The minutes that show why a track ended. */
export const minutesBehind = ({ last }: TrackFacts, { trackEndsAfterMs }: Pick<Pace, 'trackEndsAfterMs'>): number[] => {
  const first = minuteOf(last.timeMs);
  const second = minuteOf(last.timeMs + trackEndsAfterMs);
  return first === second ? [first] : [first, second];
};

/** Why a track that is not active ended; `minutes` has those of `minutesBehind`. */
export function endOf(track: TrackFacts, now: TaskNow, minutes: ReadonlyMap<number, Minute>): TrackEnd {
  if (isOfPastAttempt(track, now)) return 'attempt';
  if (!hasEnded(track, now)) return 'task_end';
  const lastSecond = Math.floor(track.last.timeMs / 1000);
  const until = lastSecond + Math.ceil(now.trackEndsAfterMs / 1000);
  for (let second = lastSecond + 1; second <= until; second += 1) if (hasFrame(minutes, second)) return 'left';
  return 'gap';
}

/** Whether this second (since 1970, or since the start of the file) has a frame. */
function hasFrame(minutes: ReadonlyMap<number, Minute>, second: number): boolean {
  const start = minuteOf(1000 * second);
  const minute = minutes.get(start);
  if (!minute) return false;
  const at = second - start / 1000;
  return at < 30 ? (minute.low & (1 << at)) !== 0 : (minute.high & (1 << (at - 30))) !== 0;
}
