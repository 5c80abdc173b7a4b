import { z } from 'zod';
import type { RuleWhen } from '@vision/contracts/alarm-rules';
import { alarmFacts, exampleAlarmFacts } from '@vision/contracts/alarms';
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

export const exampleAlarm: z.infer<typeof backtestAlarm> = {
  alarm_id: '5f0c8a1e-3f6d-8b42-9c17-2d8e4a7b9c03',
  state: 'closed',
  ...exampleAlarmFacts,
  // The rule of the backtest example has no region.
  evidence: { ...exampleAlarmFacts.evidence, region: undefined },
  closed_by: 'cleared',
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
