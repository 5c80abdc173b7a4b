import { z } from 'zod';
import type { RuleWhen } from '@vision/contracts/alarm-rules';
import { alarmFacts } from '@vision/contracts/alarms';
import type { Alarm } from '../domain/fold/rules/state.ts';
import { factsOf } from '../domain/alarm-snapshot.ts';

/** An alarm that a rule would have raised. */
export const backtestAlarm = z
  .object({
    alarm_id: z.string().describe('Identifier; the same rule raises the same alarms again'),
    state: z.enum(['open', 'closed']).describe('State at `judged_to_ms`'),
    ...alarmFacts,
    closed_by: z
      .enum(['cleared', 'gap', 'schedule', 'task_end'])
      .optional()
      .describe(
        '`cleared`: the condition no longer holds. `gap`: no frame followed for 60 s. `schedule`: the schedule ended. ' +
          '`task_end`: the task ended. Absent while open',
      ),
  })
  .meta({ id: 'BacktestAlarm', description: 'Alarm that a rule would have raised' });

const exampleObject = {
  label: 'person',
  score: 0.91,
  bbox: { format: 'cxcywh_normalized' as const, cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 },
  track_id: 'a1-7',
};

export const exampleAlarm: z.infer<typeof backtestAlarm> = {
  alarm_id: '5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03',
  kind: 'object_present',
  state: 'closed',
  opened_ms: 1_773_565_206_200,
  closed_ms: 1_773_565_221_400,
  closed_by: 'cleared',
  suppressed: 0,
  evidence: {
    frame_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31',
    frame_time_ms: 1_773_565_206_200,
    objects: [exampleObject],
    count: 1,
    held_ms: 2000,
  },
  labels: ['person'],
  count_max: 2,
  track_ids: ['a1-7', 'a1-8'],
};

/** An alarm in the form of the API. */
export function alarmBody(taskId: string, kind: RuleWhen['kind'], alarm: Alarm): z.infer<typeof backtestAlarm> {
  const { closedBy } = alarm;
  return {
    alarm_id: alarm.alarmId,
    state: alarm.closedMs === undefined ? 'open' : 'closed',
    ...factsOf(taskId, kind, alarm),
    closed_by: closedBy === 'rule' ? undefined : closedBy,
  };
}
