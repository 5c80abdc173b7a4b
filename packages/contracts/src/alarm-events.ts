import { z } from 'zod';
import { alarmFacts, alarmImage, exampleAlarmFacts, exampleAlarmImage } from './alarms.ts';
import { defineEvent } from './envelope.ts';
import { topics } from './topics.ts';

/** Why an alarm closed. */
export const closedBy = z
  .enum(['cleared', 'gap', 'schedule', 'rule', 'task_end'])
  .describe(
    '`cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. ' +
      '`rule`: the rule was changed, disabled or deleted. `task_end`: the task ended. Absent while open',
  );

const alarmSnapshot = z.object({
  alarm_id: z.guid().describe('Made of rule, version, task and opening: the same alarm has the same id again'),
  version: z.int().min(1).describe('1 as it opened, greater with every change; the greatest one holds'),
  subject: z.string(),
  rule_id: z.string(),
  rule_version: z.int().min(1),
  task_id: z.uuid(),
  client_ref: z.string().optional().describe("The caller's own name for a camera or an order"),
  scene_code: z.string().optional().describe('Left out when an earlier release stored the task'),
  is_live: z.boolean().describe('Whether times are Unix times; else they are PTS offsets in an uploaded video'),
  state: z.enum(['open', 'closed']),
  ...alarmFacts,
  closed_by: closedBy.optional(),
  snapshot: alarmImage.optional().describe('Left out by an earlier release'),
  judged_at: z.iso.datetime().describe('When the change was stored'),
});

/** An alarm in full, at one version. */
export const alarmChanged = defineEvent({
  type: 'vision.alarm.changed.v1',
  topic: topics.alarms,
  schema: alarmSnapshot,
  doc: {
    sentBy: 'results',
    receivedBy: ['notify'],
    summary: 'An alarm opened, got an image or closed: notify logs it and delivers it',
    example: {
      alarm_id: '5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03',
      version: 3,
      subject: 'acme',
      rule_id: 'yard-at-night',
      rule_version: 2,
      task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
      client_ref: 'yard-north',
      scene_code: 'person_vehicle',
      is_live: true,
      state: 'closed',
      ...exampleAlarmFacts,
      closed_by: 'cleared',
      snapshot: exampleAlarmImage,
      judged_at: '2026-03-15T09:00:21.431Z',
    },
  },
});

export type ClosedBy = z.infer<typeof closedBy>;
export type AlarmSnapshot = z.infer<typeof alarmSnapshot>;
