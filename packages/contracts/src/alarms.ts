import { z } from 'zod';
import { trackedObject } from './detection.ts';
import { taskStatus } from './task-events.ts';

/** Limits of what an alarm shows. */
export const ALARM_LIMITS = { objects: 10, tracks: 20 } as const;

const time = z.int().meta({ format: 'int64' });

// No tuple: the types of the client for what it reads do not keep them.
const point = z.array(z.number()).length(2);

/** Kind of the rule that raised an alarm. */
export const alarmKind = z.enum(['object_present', 'object_absent', 'line_crossed', 'source_down', 'task_ended']);

/** Why an alarm was raised. */
export const alarmEvidence = z
  .object({
    frame_id: z.string().optional().describe('Frame that raised the alarm, or the last one before it'),
    frame_time_ms: time.optional().describe('Time of this frame'),
    objects: z
      .array(trackedObject)
      .describe(`Objects of this frame that the rule counts, highest score first, at most ${ALARM_LIMITS.objects}`),
    count: z.int().describe('Number of objects of this frame that the rule counts'),
    held_ms: time.describe('Milliseconds for which the condition had held, without gaps'),
    direction: z
      .enum(['left_to_right', 'right_to_left'])
      .optional()
      .describe('Direction of a crossing, as seen from the first point of the line'),
    status: taskStatus.optional().describe('Final status of the task; present for `task_ended`'),
    region: z.array(point).optional().describe('Region of the rule as it was; absent for a rule without one'),
    line: z.array(point).optional().describe('Line of the rule as it was; present for `line_crossed`'),
  })
  .meta({ id: 'AlarmEvidence', description: 'Why an alarm was raised' });

/** The image of the object that raised an alarm. */
export const alarmImage = z
  .object({
    state: z
      .enum(['available', 'pending', 'none', 'off'])
      .describe(
        '`available`: an image is stored, and expires as images of tracks do. `pending`: none is stored yet; the event ' +
          '`alarm.updated` follows when one is stored within a day of the last event of the alarm. `none`: no object ' +
          'raised the alarm. `off`: the task has no snapshots',
      ),
    path: z
      .string()
      .optional()
      .describe('Path of the image, to be read with your API key; present for `available` and `pending`'),
    frame_time_ms: time.optional().describe('`frame_time_ms` of the frame that it is cut from, once it is available'),
  })
  .meta({ id: 'AlarmImage', description: 'Image of the object that raised an alarm' });

export const exampleAlarmImage: AlarmImage = {
  state: 'available',
  path: '/v1/vision/tasks/019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10/tracks/a1-7/snapshot',
  frame_time_ms: 1_773_565_207_400,
};

/** What an alarm says whether a rule raised it or would have raised it. */
export const alarmFacts = {
  kind: alarmKind,
  opened_ms: time.describe('`frame_time_ms` at which the alarm opened'),
  closed_ms: time.optional().describe('`frame_time_ms` at which it closed; absent while open'),
  suppressed: z
    .int()
    .describe(
      'Episodes since the alarm before that `min_interval_ms` held back, and those beyond what a minute of the task may ' +
        'raise: 60 alarms of crossings, 300 of other conditions on objects',
    ),
  evidence: alarmEvidence,
  labels: z.array(z.string()).describe('Labels of the objects during the alarm'),
  count_max: z.int().describe('Largest number of objects in one frame during the alarm'),
  track_ids: z.array(z.string()).describe(`Tracks of the objects during the alarm, at most ${ALARM_LIMITS.tracks}`),
};

/** An example of them, for documents. */
export const exampleAlarmFacts: AlarmFacts = {
  kind: 'object_present',
  opened_ms: 1_773_565_206_200,
  closed_ms: 1_773_565_221_400,
  suppressed: 0,
  evidence: {
    frame_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31',
    frame_time_ms: 1_773_565_206_200,
    objects: [
      {
        label: 'person',
        score: 0.91,
        bbox: { format: 'cxcywh_normalized', cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 },
        track_id: 'a1-7',
      },
    ],
    count: 1,
    held_ms: 2000,
    region: [
      [0.1, 0.4],
      [0.9, 0.4],
      [0.9, 1],
      [0.1, 1],
    ],
  },
  labels: ['person'],
  count_max: 2,
  track_ids: ['a1-7', 'a1-8'],
};

type AlarmFacts = z.infer<z.ZodObject<typeof alarmFacts>>;
export type AlarmImage = z.infer<typeof alarmImage>;
export type AlarmKind = z.infer<typeof alarmKind>;
export type AlarmEvidence = z.infer<typeof alarmEvidence>;
