import { z } from 'zod';
import { refusalOf } from '@vision/contracts/errors';
import { paramsOf } from '@vision/contracts/ids';
import { storedText } from '@vision/contracts/stored-text';
import { parsePart, route } from '@vision/shared/http/route';
import { verdicts } from '../domain/alarm.ts';
import type { Deps } from '../use-cases/deps.ts';
import { alarmNotFound } from '../use-cases/alarms/get-alarm.ts';
import { reviewAlarm } from '../use-cases/alarms/review-alarm.ts';
import { alarm, alarmBody, exampleReviewedAlarm } from './alarm.ts';

const path = '/v1/vision/alarms/{alarm_id}/review';

const body = z
  .strictObject({
    verdict: z.enum(verdicts).describe('`confirmed`, `false_alarm`, or `none` to withdraw a verdict'),
    note: storedText(500).optional().describe('Note of your own, at most 500 characters'),
  })
  .meta({ id: 'NewAlarmReview' });

export const reviewAlarmRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'reviewAlarm',
      method: 'put',
      path,
      summary: 'Stores your verdict on an alarm',
      description:
        'Replaces an earlier verdict and its note. A repeat changes nothing. `getAlarmRule` counts the verdicts of a ' +
        'rule, so you see how often it is right.',
      tag: 'Alarms',
      audience: 'public',
      params: paramsOf(path),
      body,
      bodyExample: { verdict: 'false_alarm', note: 'the gardener' },
      responses: { 200: { description: 'The alarm with its review', schema: alarm, example: exampleReviewedAlarm } },
      refusalExamples: () => [refusalOf(() => parsePart(body, { verdict: 'perhaps' }, 'body')), alarmNotFound()],
    },
    async ({ params, body: { verdict, note = null }, caller: { subject } }) => ({
      status: 200,
      body: alarmBody(await reviewAlarm(deps, { subject, alarmId: params['alarm_id'] ?? '', verdict, note })),
    }),
  );
