import { z } from 'zod';
import { clientRef } from './create-query.ts';
import { uuidForm } from './ids.ts';
import { onGrid, regionOf } from './region.ts';
import { storedText } from './stored-text.ts';

/** Limits of the parts of a rule. */
export const RULE_LIMITS = {
  labels: 32,
  labelLength: 100,
  forMs: 3_600_000,
  minIntervalMs: 86_400_000,
  windows: 20,
  inScope: 100,
} as const;

const unit = z.number().min(0).max(1);
const point = z.tuple([unit, unit]).meta({ minItems: 2, maxItems: 2 });

const objects = {
  labels: z
    .array(storedText(RULE_LIMITS.labelLength).min(1))
    .min(1)
    .max(RULE_LIMITS.labels)
    .describe('Labels of the objects. A label that the task does not detect matches no object'),
  min_score: unit.optional().describe("Score threshold, 0 to 1. When omitted, the task's threshold applies"),
};

const anchor = z
  .enum(['bottom_center', 'center'])
  .default('bottom_center')
  .describe('Point of the box used as position of the object');

const area = {
  region: z
    .array(point)
    .min(3)
    .max(16)
    .refine(isRegion, {
      error: 'Send a polygon whose edges do not cross or touch each other',
      params: { reason: 'region_invalid' },
    })
    .optional()
    .describe(
      'Polygon on the image: 3 to 16 corners `[x, y]`, each coordinate 0 to 1. Its edges do not cross or touch each ' +
        'other. Objects whose anchor lies outside do not count',
    ),
  anchor,
};

const duration = (least: number) => z.int().min(least).max(RULE_LIMITS.forMs);

const objectPresent = z
  .strictObject({
    kind: z.literal('object_present'),
    ...objects,
    ...area,
    min_count: z.int().min(1).max(1000).default(1).describe('Objects that must be present at once'),
    for_ms: duration(0).default(0).describe('Milliseconds that the objects must be present, without gaps'),
    clear_ms: duration(1000)
      .default(5000)
      .describe(
        'Milliseconds of absence after which the alarm closes, without gaps; at least two sampling periods of the ' +
          'task, in whole seconds, apply',
      ),
  })
  .meta({ id: 'ObjectPresent', description: 'Objects are present' });

const objectAbsent = z
  .strictObject({
    kind: z.literal('object_absent'),
    ...objects,
    ...area,
    for_ms: duration(10_000).describe('Milliseconds of absence, without gaps'),
  })
  .meta({ id: 'ObjectAbsent', description: 'No such object is present while the camera sends frames' });

const lineCrossed = z
  .strictObject({
    kind: z.literal('line_crossed'),
    ...objects,
    line: z
      .array(point)
      .length(2)
      .refine(([from, to]) => !from || !to || onGrid(from[0]) !== onGrid(to[0]) || onGrid(from[1]) !== onGrid(to[1]), {
        error: 'Send two different points',
      })
      .describe('Line on the image from the first to the second point `[x, y]`, each coordinate 0 to 1'),
    direction: z
      .enum(['both', 'left_to_right', 'right_to_left'])
      .default('both')
      .describe('Direction of the crossing, as seen from the first point of the line towards the second'),
    anchor,
  })
  .meta({
    id: 'LineCrossed',
    description:
      'The anchor of one object crosses a line. It must be seen in two frames on each side, without a gap between ' +
      'them; frames in which the object is not found do not count',
  });

const sourceDown = z
  .strictObject({
    kind: z.literal('source_down'),
    for_ms: duration(5000)
      .default(60_000)
      .describe('Milliseconds without a frame; at least two sampling periods of the stream apply'),
  })
  .meta({ id: 'SourceDown', description: 'A live stream delivers no frames. It never applies to uploaded videos' });

const finalStatuses = ['succeeded', 'stopped', 'failed', 'refunded'] as const;

const taskEnded = z
  .strictObject({
    kind: z.literal('task_ended'),
    statuses: z
      .array(z.enum(finalStatuses))
      .min(1)
      .max(finalStatuses.length)
      .default(['failed'])
      .describe('Final states that raise the alarm'),
  })
  .meta({ id: 'TaskEnded', description: 'The task ends' });

/** The condition of a rule. */
export const ruleWhen = z
  .discriminatedUnion('kind', [objectPresent, objectAbsent, lineCrossed, sourceDown, taskEnded])
  .meta({ id: 'RuleCondition' });

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const CLOCK = '([01]\\d|2[0-3]):[0-5]\\d';

const scheduleWindow = z
  .strictObject({
    days: z.array(z.enum(days)).min(1).max(days.length).describe('Days on which the window begins'),
    from: z
      .string()
      .regex(new RegExp(`^${CLOCK}$`), 'Send a time such as 18:00')
      .describe('Begin, `HH:MM` local time, inclusive'),
    to: z
      .string()
      .regex(new RegExp(`^(${CLOCK}|24:00)$`), 'Send a time such as 06:00')
      .describe('End, `HH:MM` local time or `24:00`, exclusive. An earlier time than `from` is on the next day'),
  })
  .refine(({ from, to }) => from !== to, { error: 'Send an end that differs from the begin', path: ['to'] })
  .meta({ id: 'ScheduleWindow' });

/** An example of a condition, for documents. */
export const exampleWhen = {
  kind: 'object_present',
  labels: ['person'],
  region: [
    [0.1, 0.5],
    [0.9, 0.5],
    [0.9, 1],
    [0.1, 1],
  ],
  anchor: 'bottom_center',
  min_count: 1,
  for_ms: 2000,
  clear_ms: 5000,
} satisfies RuleWhen;

/** When a rule applies. */
export const ruleSchedule = z
  .strictObject({
    time_zone: z
      .string()
      .max(64)
      .refine(isTimeZone, { error: 'Send an IANA time zone', params: { reason: 'time_zone_unknown' } })
      .describe('IANA time zone, such as `Europe/Berlin`; daylight saving time is taken into account'),
    windows: z.array(scheduleWindow).min(1).max(RULE_LIMITS.windows),
  })
  .meta({
    id: 'RuleSchedule',
    description:
      'Times at which the rule applies. It does not restrict uploaded videos, whose frames have no time of day',
  });

/** The tasks that a rule applies to; without it, all tasks of the subject, including later ones. */
export const ruleScope = z
  .strictObject({
    client_refs: z
      .array(clientRef)
      .min(1)
      .max(RULE_LIMITS.inScope)
      .optional()
      .describe('Tasks with one of these `client_ref`, including later ones'),
    task_ids: z.array(uuidForm).min(1).max(RULE_LIMITS.inScope).optional().describe('These tasks'),
  })
  .refine(({ client_refs: refs, task_ids: ids }) => refs !== undefined || ids !== undefined, {
    error: 'Send client_refs or task_ids, or leave the scope out',
  })
  .meta({
    id: 'RuleScope',
    description: 'Tasks that a rule applies to: those that one of the lists names. Absent: all tasks',
  });

/** Least time between two alarms of a rule. */
export const ruleInterval = z
  .int()
  .min(0)
  .max(RULE_LIMITS.minIntervalMs)
  .default(60_000)
  .describe(
    'Least time between the openings of two alarms, in milliseconds. A condition that still holds when it has passed ' +
      'raises its alarm then; others count as `suppressed`. Crossings raise 60 alarms a minute of a task at ' +
      'most, other conditions on objects 300, by the times of its frames and over all rules; those beyond count as ' +
      '`suppressed` too',
  );

/** A condition as it is evaluated, with its defaults. */
export type RuleWhen = z.output<typeof ruleWhen>;
export type RuleSchedule = z.output<typeof ruleSchedule>;
export type RuleScope = z.output<typeof ruleScope>;
export type RuleWhenOf<Kind extends RuleWhen['kind']> = Extract<RuleWhen, { kind: Kind }>;
export type Day = (typeof days)[number];

/** Days of the week in their order. */
export const daysOfWeek: readonly Day[] = days;

/** Whether the runtime knows this name of a time zone. Offsets such as `+02:00` have no daylight saving time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function isRegion(corners: [number, number][]): boolean {
  try {
    regionOf(corners);
    return true;
  } catch {
    return false;
  }
}
