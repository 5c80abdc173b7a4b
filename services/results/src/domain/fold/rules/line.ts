import type { RuleWhenOf } from '@vision/contracts/alarm-rules';
import { onGrid, turn } from '@vision/contracts/region';
import type { GridPoint } from '@vision/contracts/region';
import { isTrackId } from '../tracks.ts';
import { close, mayRaise, raise, unchanged } from './alarm.ts';
import { suppress } from './state.ts';
import type { AlarmChange, Direction, EvaluatedFrame, Rule, RuleState, SeenObject, TrackPath } from './state.ts';

export interface Line {
  rule: Rule;
  taskId: string;
  when: RuleWhenOf<'line_crossed'>;
  /** Its ends on the grid. */
  ends: readonly [GridPoint, GridPoint];
  /** A track without an object for this time has ended. */
  trackEndsAfterMs: number;
  /** Maximum number of tracks that are followed at once; others are ignored. */
  mostPaths: number;
}

/** The ends of a line on the grid. */
export function endsOf({ line: [from = [0, 0], to = [0, 0]] }: RuleWhenOf<'line_crossed'>): Line['ends'] {
  return [
    { x: onGrid(from[0]), y: onGrid(from[1]) },
    { x: onGrid(to[0]), y: onGrid(to[1]) },
  ];
}

/** Number of frames on a side before the anchor counts there: one box that jumps is no crossing. */
const HELD_FRAMES = 2;
/** More tracks than any scene has. */
const MOST_PATHS = 1_000;
/** For all lines of a task: a state may have 32 MiB, and a process holds those of many tasks. */
const MOST_PATHS_OF_TASK = 10_000;

/** Tracks that each of the lines of a task follows at once. */
export const pathsPerLine = (lines: number): number =>
  Math.min(MOST_PATHS, Math.ceil(MOST_PATHS_OF_TASK / Math.max(1, lines)));

/** Evaluates one frame: each crossing is an alarm that opens and closes in it. */
export function evaluateLine(
  line: Line,
  state: RuleState,
  { frame, matched, mayAlarm }: { frame: EvaluatedFrame; matched: readonly SeenObject[]; mayAlarm: boolean },
): readonly AlarmChange[] {
  const { rule, taskId, when, trackEndsAfterMs } = line;
  if (isNewSecond(state, frame.timeMs)) forgetTracks(state, frame.timeMs, trackEndsAfterMs);
  if (matched.length === 0) return unchanged;
  const changes: AlarmChange[] = [];
  for (const object of matched) {
    const direction = crossingOf(line, state, { object, timeMs: frame.timeMs });
    if (!direction || !mayAlarm || (when.direction !== 'both' && when.direction !== direction)) continue;
    if (!mayRaise(rule, state, frame.timeMs) || !frame.mayCross()) {
      suppress(state);
      continue;
    }
    const evidence = { frame: frame.ref, objects: [object], count: 1, heldMs: 0, direction };
    changes.push(raise(rule, taskId, state, { atMs: frame.timeMs, evidence, key: object.trackId }));
    changes.push(...close(state, frame.timeMs, 'cleared'));
  }
  return changes;
}

/** Follows one track; returns the direction in which it crosses the line with this frame. */
function crossingOf(
  { when, ends: [a, b], trackEndsAfterMs, mostPaths }: Line,
  { paths }: RuleState,
  { object, timeMs }: { object: SeenObject; timeMs: number },
): Direction | undefined {
  const point = anchorOf(when, object);
  const side = turn(a, b, point) < 0 ? 'left' : 'right';
  const key = `#${object.trackId}`;
  const known = paths[key];
  if (!known && (!isTrackId(object.trackId) || Object.keys(paths).length >= mostPaths)) return undefined;
  const path =
    known && !isOld(known, timeMs, trackEndsAfterMs) ? known : (paths[key] = { from: point, lastMs: timeMs });
  path.lastMs = timeMs;
  if (side === path.side) {
    path.from = point;
    path.next = undefined;
    return undefined;
  }
  if (path.next?.side !== side) path.next = { side, frames: 0, from: point };
  path.next.frames += 1;
  if (path.next.frames < HELD_FRAMES) return undefined;
  const hasCrossed = path.side !== undefined && passes(a, b, { from: path.from, to: path.next.from });
  path.side = side;
  path.from = point;
  path.next = undefined;
  if (!hasCrossed) return undefined;
  return side === 'right' ? 'left_to_right' : 'right_to_left';
}

/** Whether a path from one side to the other passes between the ends of the line, not beside them. */
const passes = (a: GridPoint, b: GridPoint, { from, to }: { from: GridPoint; to: GridPoint }): boolean =>
  turn(from, to, a) >= 0 !== turn(from, to, b) >= 0;

const anchorOf = ({ anchor }: RuleWhenOf<'line_crossed'>, { cx, cy, height }: SeenObject): GridPoint => ({
  x: onGrid(cx),
  y: onGrid(anchor === 'center' ? cy : cy + height / 2),
});

const isOld = ({ lastMs }: TrackPath, timeMs: number, trackEndsAfterMs: number) => timeMs - lastMs >= trackEndsAfterMs;

const isNewSecond = ({ last }: RuleState, timeMs: number) =>
  last !== undefined && Math.floor(last.timeMs / 1000) !== Math.floor(timeMs / 1000);

function forgetTracks(state: RuleState, timeMs: number, trackEndsAfterMs: number): void {
  const paths = Object.entries(state.paths);
  if (paths.some(([, path]) => isOld(path, timeMs, trackEndsAfterMs)))
    state.paths = Object.fromEntries(paths.filter(([, path]) => !isOld(path, timeMs, trackEndsAfterMs)));
}
