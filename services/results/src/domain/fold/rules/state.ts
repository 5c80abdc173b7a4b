import type { ClosedBy } from '@vision/contracts/alarm-events';
import type { RuleSchedule, RuleWhen } from '@vision/contracts/alarm-rules';
import { pointInImage } from '@vision/contracts/region';
import type { GridPoint } from '@vision/contracts/region';
import type { TaskStatus } from '@vision/contracts/task-events';
import type { Pace } from '../pace.ts';
import type { Box } from '../tracks.ts';

/** A rule in the form in which it is evaluated. */
export interface Rule {
  id: string;
  version: number;
  when: RuleWhen;
  minIntervalMs: number;
  schedule: RuleSchedule | undefined;
}

/** Facts of a task that an evaluation needs. */
export interface EvaluatedTask {
  taskId: string;
  /** Score in millionths below which objects do not count for rules without a score of their own. */
  threshold: number;
  /** Frame times are Unix times, and a silence means that the source is unavailable. */
  isLive: boolean;
  /** Time from which silence counts before the first frame. */
  beginsMs: number;
  pace: Pace;
  /** Number of lines among the rules of the task, which share the limit of followed tracks. */
  lines?: number;
}

export interface FrameRef {
  seq: number;
  timeMs: number;
}

/** An object that an alarm shows. */
export interface SeenObject extends Box {
  label: string;
  trackId: string;
  /** Score in millionths. */
  score: number;
}

/** An object of a frame, with its anchors in the form for region tests, computed once for all rules. */
interface EvaluatedObject {
  object: SeenObject;
  center: GridPoint;
  bottomCenter: GridPoint;
}

/** A frame for evaluation by any number of rules; `frameOf` makes it. */
export interface EvaluatedFrame extends FrameRef {
  /** The frame as states and alarms name it. */
  ref: FrameRef;
  /** Objects of each label, in the order of the frame. */
  byLabel: ReadonlyMap<string, readonly EvaluatedObject[]>;
  /** Whether a crossing in the frame may raise an alarm; counts it if so. Called last, for each crossing. */
  mayCross: () => boolean;
  /** The same for a condition that has held for long enough. */
  mayHold: () => boolean;
}

/** A frame with these objects; without limits it raises every alarm that rules find in it. */
export function frameOf(
  { seq, timeMs }: FrameRef,
  objects: readonly SeenObject[],
  limits: Pick<EvaluatedFrame, 'mayCross' | 'mayHold'> = unlimited,
): EvaluatedFrame {
  const byLabel = new Map<string, EvaluatedObject[]>();
  for (const object of objects) {
    const { label, cx, cy, height } = object;
    const center = pointInImage(cx, cy);
    const evaluated = { object, center, bottomCenter: pointInImage(cx, cy + height / 2) };
    const known = byLabel.get(label);
    if (known) known.push(evaluated);
    else byLabel.set(label, [evaluated]);
  }
  return { seq, timeMs, ref: { seq, timeMs }, byLabel, ...limits };
}

const unlimited = { mayCross: () => true, mayHold: () => true };

export type Direction = 'left_to_right' | 'right_to_left';

/** Facts that made a rule raise its alarm. */
export interface Evidence {
  /** Absent when the task has no frame before the alarm. */
  frame?: FrameRef | undefined;
  objects: SeenObject[];
  count: number;
  /** Time for which the condition held when the alarm opened, gaps excluded. */
  heldMs: number;
  direction?: Direction | undefined;
  status?: TaskStatus | undefined;
  /** Region or line of the rule. */
  region?: Points | undefined;
  line?: Points | undefined;
}

type Points = [number, number][];

/** One episode during which the condition of a rule holds. */
export interface Alarm {
  alarmId: string;
  openedMs: number;
  closedMs?: number | undefined;
  closedBy?: ClosedBy | undefined;
  /** Episodes that were suppressed since the previous alarm. */
  suppressed: number;
  evidence: Evidence;
  labels: string[];
  countMax: number;
  trackIds: string[];
}

/** The alarm after a change; the first change of an `alarmId` is its opening. */
export type AlarmChange = Alarm;

type Side = 'left' | 'right';

/** Positions of the anchor of a track. */
export interface TrackPath {
  /** Side on which it was in enough consecutive frames; absent before that. */
  side?: Side | undefined;
  /** Its last point on that side. */
  from: GridPoint;
  /** Consecutive frames on another side, or on the first one, and their first point. */
  next?: { side: Side; frames: number; from: GridPoint } | undefined;
  lastMs: number;
}

/** State of a rule in a task. Plain data: JSON restores it unchanged. */
export interface RuleState {
  /** The newest evaluated frame. */
  last?: FrameRef | undefined;
  /** Opening time of the newest alarm. */
  raisedMs?: number | undefined;
  closedMs?: number | undefined;
  /** Episodes since the newest alarm that raised none, because they came too soon or there were too many. */
  suppressed: number;
  /** The same since the beginning. */
  suppressedTotal: number;
  open?: Alarm | undefined;
  /** A condition that holds and has not raised an alarm. */
  pending?: Pending | undefined;
  /** Whether the condition held in the newest frame; if not, the time since it last held. */
  holds: boolean;
  contraryMs: number;
  /** Paths of the visible tracks. The key is `#` and the id of the track, so no id is a property of all objects. */
  paths: Record<string, TrackPath>;
}

interface Pending {
  heldMs: number;
  /** It held for long enough, but too soon after the previous alarm. */
  isHeldBack: boolean;
}

/** Has every property: states of one shape are evaluated faster. */
export const newRuleState = (): RuleState => ({
  last: undefined,
  raisedMs: undefined,
  closedMs: undefined,
  open: undefined,
  pending: undefined,
  suppressed: 0,
  suppressedTotal: 0,
  holds: false,
  contraryMs: 0,
  paths: {},
});

/** Counts an episode that raised no alarm. */
export function suppress(state: RuleState): void {
  state.suppressed += 1;
  state.suppressedTotal += 1;
}
