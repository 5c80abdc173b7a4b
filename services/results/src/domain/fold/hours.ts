import { decodeMinutes, decodeTotals, encodeHour } from './hour-codec.ts';
import type { PackedHour } from './hour-codec.ts';
import { addBegun, countsOf, emptyMinute, hourOf, mergeCounts, mergeMinute, MINUTE_MS } from './minutes.ts';
import type { LabelCounts, Minute } from './minutes.ts';
import { minuteAt } from './state.ts';
import type { FoldState } from './state.ts';
import type { TrackFacts } from './tracks.ts';

/** Minutes that stay in the state, because frames of them still arrive. */
const KEPT_MS = 2 * MINUTE_MS;
/** Minutes are stored when the oldest one in the state is this much older than the newest frame, or there are many. */
const WAIT_MS = 10 * MINUTE_MS;
const MOST_MINUTES = 30;

/** Whether minutes of the state have to be stored. */
export function areMinutesDue({ minutes, newestMs = 0 }: Pick<FoldState, 'minutes' | 'newestMs'>): boolean {
  return minutes.size > MOST_MINUTES || Math.min(...minutes.keys()) <= newestMs - WAIT_MS;
}

/** Moves the due minutes out of the state, by their hour; empty while it is too early to store any. */
export function takeDueMinutes(state: FoldState): Map<number, Map<number, Minute>> {
  const due = new Map<number, Map<number, Minute>>();
  const newestMs = state.newestMs ?? 0;
  if (!areMinutesDue(state)) return due;
  for (const [start, minute] of state.minutes) {
    if (start > newestMs - KEPT_MS) continue;
    const hour = hourOf(start);
    const minutes = due.get(hour) ?? new Map<number, Minute>();
    minutes.set(start, minute);
    due.set(hour, minutes);
    state.minutes.delete(start);
  }
  return due;
}

/** Merges a stored hour with more facts about its minutes. */
export function mergeHour(
  hourMs: number,
  stored: PackedHour | undefined,
  more: ReadonlyMap<number, Minute>,
): PackedHour {
  const minutes = stored ? decodeMinutes(stored) : new Map<number, Minute>();
  const totals = stored ? decodeTotals(stored).labels : new Map<string, LabelCounts>();
  for (const [start, minute] of more) {
    const into = minutes.get(start) ?? emptyMinute();
    mergeMinute(into, minute);
    minutes.set(start, into);
    for (const [label, counts] of minute.labels) mergeCounts(countsOf(totals, label), counts);
  }
  return encodeHour(hourMs, minutes, totals);
}

/** Counts a track in the minute of its beginning, in place of its earlier count. */
export function countTrack(minutes: Map<number, Minute>, track: TrackFacts, before: TrackFacts | undefined): void {
  if (before) addBegun(minuteAt(minutes, before.first.timeMs), before, -1);
  addBegun(minuteAt(minutes, track.first.timeMs), track, 1);
}
