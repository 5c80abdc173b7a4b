import { z } from 'zod';
import { closedBy } from '@vision/contracts/alarm-events';
import { alarmFacts, alarmImage, exampleAlarmFacts, exampleAlarmImage } from '@vision/contracts/alarms';
import { clientRef } from '@vision/contracts/create-query';
import { alarmStates, verdicts } from '../domain/alarm.ts';
import type { StoredAlarm } from '../domain/alarm.ts';

const review = z
  .object({
    verdict: z
      .enum(verdicts)
      .describe('`confirmed`: rightly raised. `false_alarm`: wrongly raised. `none`: not reviewed'),
    note: z.string().optional().describe('Note of the review; absent without one'),
    reviewed_at: z.iso.datetime().optional().describe('Time of the review; absent before'),
  })
  .meta({ id: 'AlarmReview', description: 'Your verdict on an alarm' });

export const alarm = z
  .object({
    alarm_id: z.guid().describe('Identifier of the alarm'),
    version: z.int().describe('1 when the alarm opened, greater with every change of it'),
    rule_id: z.string().describe('Rule that raised the alarm'),
    rule_version: z.int().meta({ format: 'int64' }).describe('Version of the rule that raised it'),
    task_id: z.uuid(),
    client_ref: clientRef.optional().describe('`client_ref` of the task; absent without one'),
    scene_code: z.string().optional().describe('Scene of the task'),
    state: z.enum(alarmStates).describe('`open` while the condition of the rule holds'),
    ...alarmFacts,
    closed_by: closedBy.optional(),
    snapshot: alarmImage.optional().describe('Image of the object; absent in alarms of an earlier release'),
    sequence: z
      .int()
      .min(1)
      .optional()
      .meta({ format: 'int64' })
      .describe('Number of its opening in your log; absent in events, which have their own'),
    created_at: z.iso.datetime().describe('Time at which the alarm was raised'),
    updated_at: z.iso.datetime().describe('Time of its last change'),
    review: review.optional().describe('Your verdict; absent in events'),
  })
  .meta({ id: 'Alarm', description: 'Alarm that a rule raised' });

export const exampleAlarm: z.infer<typeof alarm> = {
  alarm_id: '5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03',
  version: 3,
  rule_id: 'yard-at-night',
  rule_version: 1_773_500_000,
  task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
  client_ref: 'yard-north',
  scene_code: 'person_vehicle',
  state: 'closed',
  ...exampleAlarmFacts,
  closed_by: 'cleared',
  snapshot: exampleAlarmImage,
  created_at: '2026-03-15T09:00:06.431Z',
  updated_at: '2026-03-15T09:00:21.431Z',
};

export const exampleReviewedAlarm: z.infer<typeof alarm> = {
  ...exampleAlarm,
  sequence: 1_773_565_206_436,
  review: { verdict: 'false_alarm', note: 'the gardener', reviewed_at: '2026-03-15T10:12:00.000Z' },
};

/** An alarm in the form for its subject. */
export function alarmBody({ data, position, verdict, note, reviewed_at }: StoredAlarm): z.infer<typeof alarm> {
  return {
    ...(JSON.parse(data) as z.infer<typeof alarm>),
    sequence: position,
    review: {
      verdict,
      ...(note === null ? {} : { note }),
      ...(reviewed_at === null ? {} : { reviewed_at: reviewed_at.toISOString() }),
    },
  };
}
