import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { alarmNotFound, getAlarm } from '../use-cases/alarms/get-alarm.ts';
import { alarm, alarmBody, exampleReviewedAlarm } from './alarm.ts';

const path = '/v1/vision/alarms/{alarm_id}';

export const getAlarmRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'getAlarm',
      method: 'get',
      path,
      summary: 'Returns an alarm',
      tag: 'Alarms',
      audience: 'public',
      params: paramsOf(path),
      responses: { 200: { description: 'The alarm as it is now', schema: alarm, example: exampleReviewedAlarm } },
      refusalExamples: () => [alarmNotFound()],
    },
    async ({ params, caller: { subject } }) => ({
      status: 200,
      body: alarmBody(await getAlarm(deps, { subject, alarmId: params['alarm_id'] ?? '' })),
    }),
  );
