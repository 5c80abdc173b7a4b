import type { AlarmRule, components } from '@vision/client';
import { isWithin } from './bounds.ts';
import type { Bounds } from './bounds.ts';
import { shapeProblem } from './shape.ts';
import type { Point } from './shape.ts';

type Schemas = components['schemas'];
export type RuleWhen = Schemas['RuleCondition'];
export type RuleKind = RuleWhen['kind'];
export type Schedule = Schemas['RuleSchedule'];
export type Day = Schedule['windows'][number]['days'][number];
export type Direction = Schemas['LineCrossed']['direction'];
type EndStatus = Schemas['TaskEnded']['statuses'][number];
type Scope = NonNullable<AlarmRule['scope']>;

export const ruleKinds = ['object_present', 'object_absent', 'line_crossed', 'source_down', 'task_ended'] as const;
export const endStatuses = ['succeeded', 'stopped', 'failed', 'refunded'] as const;

/** Which tasks a rule applies to. `stored`: those that it had when it was opened; `open`: not chosen yet. */
export type Binding = 'ref' | 'task' | 'all' | 'stored' | 'open';

/** A rule as the form holds it: what one kind does not use stays for the next. */
export interface RuleDraft {
  /** Undefined: one is suggested. */
  name: string | undefined;
  kind: RuleKind;
  labels: readonly string[];
  /** Undefined: the threshold of the task. */
  minScore: number | undefined;
  minCount: number;
  /** Seconds, by kind. */
  forS: Readonly<Record<RuleKind, number>>;
  clearS: number;
  isPart: boolean;
  region: readonly Point[];
  line: readonly Point[];
  direction: Direction;
  anchor: 'bottom_center' | 'center';
  statuses: readonly EndStatus[];
  intervalS: number;
  schedule: Schedule | undefined;
  binding: Binding;
}

const START: Point[] = [
  [0.2, 0.2],
  [0.8, 0.2],
  [0.8, 0.9],
  [0.2, 0.9],
];

export const emptyDraft: RuleDraft = {
  name: undefined,
  kind: 'object_present',
  labels: [],
  minScore: undefined,
  minCount: 1,
  forS: { object_present: 1, object_absent: 60, line_crossed: 0, source_down: 60, task_ended: 0 },
  clearS: 5,
  isPart: false,
  region: START,
  line: [
    [0.2, 0.5],
    [0.8, 0.5],
  ],
  direction: 'both',
  anchor: 'bottom_center',
  statuses: ['failed'],
  intervalS: 60,
  schedule: undefined,
  binding: 'ref',
};

const LONGEST_S = 3_600;
const LONGEST_INTERVAL_S = 86_400;

/** Of the numbers of the form. A kind without bounds for its time has no time. */
export const bounds: {
  forS: Readonly<Partial<Record<RuleKind, Bounds>>>;
  clearS: Bounds;
  minCount: Bounds;
  intervalS: Bounds;
} = {
  forS: {
    object_present: { least: 0, most: LONGEST_S },
    object_absent: { least: 10, most: LONGEST_S },
    source_down: { least: 5, most: LONGEST_S },
  },
  clearS: { least: 1, most: LONGEST_S },
  minCount: { least: 1, most: 1000, isWhole: true },
  intervalS: { least: 0, most: LONGEST_INTERVAL_S },
};

/** Whether the service takes the numbers that the kind uses. */
function hasGoodNumbers({ kind, forS, clearS, minCount, intervalS }: RuleDraft): boolean {
  const time = bounds.forS[kind];
  const ofPresence = isWithin(clearS, bounds.clearS) && isWithin(minCount, bounds.minCount);
  return (
    (time === undefined || isWithin(forS[kind], time)) &&
    isWithin(intervalS, bounds.intervalS) &&
    (kind !== 'object_present' || ofPresence)
  );
}

/** Whether a kind is about objects. */
export const isAboutObjects = (kind: RuleKind) => kind !== 'source_down' && kind !== 'task_ended';

export function draftOf({ name, when, schedule, min_interval_ms: interval }: AlarmRule): RuleDraft {
  const draft: RuleDraft = {
    ...emptyDraft,
    name,
    kind: when.kind,
    schedule,
    intervalS: interval / 1000,
    binding: 'stored',
  };
  const forS = 'for_ms' in when ? { ...draft.forS, [when.kind]: when.for_ms / 1000 } : draft.forS;
  switch (when.kind) {
    case 'source_down':
      return { ...draft, forS };
    case 'task_ended':
      return { ...draft, statuses: when.statuses };
    case 'line_crossed':
      return { ...draft, ...objectsOf(when), line: when.line, direction: when.direction };
    case 'object_present':
    case 'object_absent':
      return {
        ...draft,
        ...objectsOf(when),
        forS,
        isPart: when.region !== undefined,
        region: when.region ?? START,
        ...(when.kind === 'object_present' ? { minCount: when.min_count, clearS: when.clear_ms / 1000 } : {}),
      };
  }
}

const objectsOf = ({
  labels,
  min_score: minScore,
  anchor,
}: Schemas['LineCrossed'] | Schemas['ObjectPresent'] | Schemas['ObjectAbsent']) => ({
  labels,
  minScore,
  anchor,
});

/** The condition that the form describes. */
export function whenOf(draft: RuleDraft): RuleWhen {
  const { kind, minScore, anchor, isPart, region } = draft;
  const forMs = Math.round(draft.forS[kind] * 1000);
  const objects = { labels: [...draft.labels], anchor, ...(minScore === undefined ? {} : { min_score: minScore }) };
  const area = isPart ? { region: [...region] } : {};
  switch (kind) {
    case 'object_present':
      return {
        kind,
        ...objects,
        ...area,
        min_count: draft.minCount,
        for_ms: forMs,
        clear_ms: Math.round(draft.clearS * 1000),
      };
    case 'object_absent':
      return { kind, ...objects, ...area, for_ms: forMs };
    case 'line_crossed':
      return { kind, ...objects, line: [...draft.line], direction: draft.direction };
    case 'source_down':
      return { kind, for_ms: forMs };
    case 'task_ended':
      return { kind, statuses: [...draft.statuses] };
  }
}

/** The fields of a rule that say when it raises alarms. */
export const conditionsOf = (draft: RuleDraft) => ({
  when: whenOf(draft),
  min_interval_ms: Math.round(draft.intervalS * 1000),
  ...(draft.schedule ? { schedule: draft.schedule } : {}),
});

interface BoundTask {
  taskId: string;
  clientRef: string | undefined;
}

/** The tasks that the rule applies to; undefined: all. @throws Error when they are not chosen. */
export function scopeOf(
  { binding }: RuleDraft,
  task: BoundTask | undefined,
  stored: Scope | undefined,
): Scope | undefined {
  if (binding === 'stored') return stored;
  if (binding === 'all') return undefined;
  if (binding === 'open' || !task) throw new Error('the tasks of the rule are not chosen');
  return binding === 'ref' && task.clientRef !== undefined
    ? { client_refs: [task.clientRef] }
    : { task_ids: [task.taskId] };
}

export type DraftProblem = 'tasks' | 'labels' | 'few' | 'crossed' | 'line' | 'statuses' | 'days' | 'number';

/** Why the form is not a rule yet; undefined when it is one. */
export function problemOf(draft: RuleDraft): DraftProblem | undefined {
  const { binding, kind, labels, isPart, region, line, statuses, schedule } = draft;
  if (binding === 'open') return 'tasks';
  if (isAboutObjects(kind) && labels.length === 0) return 'labels';
  if (kind === 'line_crossed' && shapeProblem('line', line)) return 'line';
  const hasRegion = isPart && (kind === 'object_present' || kind === 'object_absent');
  const shape = hasRegion ? shapeProblem('polygon', region) : undefined;
  if (shape) return shape;
  if (kind === 'task_ended' && statuses.length === 0) return 'statuses';
  if (schedule?.windows.some((window) => window.days.length === 0) === true) return 'days';
  return hasGoodNumbers(draft) ? undefined : 'number';
}

/** An identifier of the service for a name of the viewer: `Yard at night` → `yard-at-night-3f9a1c`. */
export function ruleIdOf(name: string, random: string): string {
  const slug = name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 48);
  return `${slug === '' ? 'rule' : slug}-${random.slice(0, 6)}`;
}
