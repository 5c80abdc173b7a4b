import { z } from 'zod';
import { exampleWhen, ruleInterval, ruleSchedule, ruleWhen } from '@vision/contracts/alarm-rules';
import { fail, refusalOf } from '@vision/contracts/errors';
import { uuidForm } from '@vision/contracts/ids';
import { parsePart, route } from '@vision/shared/http/route';
import { MOST_BACKTEST_ALARMS, MOST_BACKTEST_MS } from '../domain/backtest.ts';
import type { BacktestReport } from '../domain/backtest.ts';
import { createAlarmBacktest } from '../use-cases/fold/create-alarm-backtest.ts';
import type { BacktestDeps, BacktestRequest } from '../use-cases/fold/create-alarm-backtest.ts';
import { notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { alarmBody, backtestAlarm, exampleAlarm } from './alarm.ts';

const time = z.int().meta({ format: 'int64' });

const body = z
  .strictObject({
    task_id: uuidForm.describe('Video task whose frames are judged'),
    from_ms: time.describe('Earliest `frame_time_ms`, inclusive'),
    to_ms: time.describe('Latest `frame_time_ms`, exclusive; at most 6 hours after `from_ms`'),
    when: ruleWhen,
    schedule: ruleSchedule.optional(),
    min_interval_ms: ruleInterval,
  })
  .refine(({ from_ms, to_ms }) => to_ms > from_ms && to_ms - from_ms <= MOST_BACKTEST_MS, {
    error: 'Send a time after from_ms, at most 6 hours later',
    path: ['to_ms'],
  })
  .meta({ id: 'NewAlarmBacktest' });

const report = z
  .object({
    alarms: z.array(backtestAlarm).describe(`Alarms in the order of their openings, at most ${MOST_BACKTEST_ALARMS}`),
    suppressed: z.int().describe('Number of episodes that raised no alarm because of `min_interval_ms`'),
    frames_read: z.int().describe('Number of frames that were judged'),
    coverage: z.number().describe('Share of the seconds of the task up to `judged_to_ms` that frames cover, 0 to 1'),
    judged_to_ms: time.describe(
      'Time up to which frames were judged, exclusive. It is earlier than `to_ms` when the backtest reached 10 s or ' +
        `${MOST_BACKTEST_ALARMS} alarms, and when later frames are not stored yet; continue from there. It is the end ` +
        'of a stream that ended before `to_ms`',
    ),
  })
  .meta({ id: 'AlarmBacktest', description: 'Alarms that a rule would have raised' });

const bodyExample: z.output<typeof body> = {
  task_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
  from_ms: 1_773_565_200_000,
  to_ms: 1_773_568_800_000,
  when: exampleWhen,
  schedule: {
    time_zone: 'Europe/Berlin',
    windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '06:00', to: '22:00' }],
  },
  min_interval_ms: 60_000,
};

const exampleReport: z.infer<typeof report> = {
  alarms: [exampleAlarm],
  suppressed: 1,
  frames_read: 17_940,
  coverage: 0.9967,
  judged_to_ms: 1_773_568_800_000,
};

const bodyReasons = { when: 'rule_invalid', schedule: 'rule_invalid', min_interval_ms: 'rule_invalid' } as const;

const refusedBody = (when: unknown, schedule?: unknown) =>
  refusalOf(() => parsePart(body, { ...bodyExample, when, ...(schedule ? { schedule } : {}) }, 'body', bodyReasons));

export const createAlarmBacktestRoute = (deps: BacktestDeps) =>
  route(
    {
      operation: 'createAlarmBacktest',
      method: 'post',
      path: '/v1/vision/alarm-backtests',
      summary: 'Tries an alarm rule on stored frames',
      description:
        'Returns the alarms that a rule would have raised in a part of a video task. Nothing is stored and no ' +
        'notification is sent. The judgement begins with the range: a condition that held before it counts from there.',
      tag: 'Alarms',
      audience: 'public',
      endsWithDeadline: true,
      body,
      bodyExample,
      bodyReasons,
      responses: {
        200: { description: 'Alarms that the rule would have raised', schema: report, example: exampleReport },
      },
      refusalExamples: () => [
        refusedBody({ kind: 'source_down', for_ms: -1 }),
        refusedBody({
          kind: 'object_present',
          labels: ['person'],
          region: [
            [0, 0],
            [1, 1],
            [1, 0],
            [0, 1],
          ],
        }),
        refusedBody(bodyExample.when, { ...bodyExample.schedule, time_zone: 'Mars/X' }),
        notVideoTask(),
        taskNotFound(),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'alarm_backtests', allowed: 2 }),
      ],
    },
    async ({ body: asked, caller, signal }) => {
      const { task_id: taskId, from_ms: fromMs, to_ms: toMs, when, schedule, min_interval_ms: minIntervalMs } = asked;
      const rule = { when, schedule, minIntervalMs };
      const request = { subject: caller.subject, taskId, rule, times: { fromMs, toMs }, signal };
      return { status: 200, body: bodyOf(request, await createAlarmBacktest(deps, request)) };
    },
  );

function bodyOf({ taskId, rule }: BacktestRequest, done: BacktestReport): z.infer<typeof report> {
  const { alarms, suppressed, framesRead, coverage, evaluatedToMs } = done;
  return {
    alarms: alarms.map((alarm) => alarmBody(taskId, rule.when.kind, alarm)),
    suppressed,
    frames_read: framesRead,
    coverage,
    judged_to_ms: evaluatedToMs,
  };
}
