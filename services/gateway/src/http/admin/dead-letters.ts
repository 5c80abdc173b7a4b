import { z } from 'zod';
import {
  deadLetter,
  listDeadLetters as listQuestion,
  replayedDeadLetters,
  replayRequest,
  shownDeadLetter,
  topicNames,
} from '@vision/contracts/dead-letters';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { listDeadLetters, replayDeadLetters, showDeadLetter } from '../../use-cases/dead-letters.ts';
import type { Deps } from '../../use-cases/deps.ts';
import { actorOf, operatorHeaders, operatorInvalid } from './schemas.ts';

const topicPath = z.object({ topic: z.enum(topicNames) });
const letterPath = topicPath.extend({
  letter: z
    .string()
    .min(1)
    .max(200)
    .describe('`newest`, an offset (`partition-offset` where there are several partitions), or the id of an event'),
});

const example: z.infer<typeof shownDeadLetter> = {
  topic: 'tasks',
  partition: 0,
  offset: 17,
  at: '2026-03-15T08:30:00.000Z',
  type: 'vision.task.changed.v1',
  key: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10',
  event_id: '019cf0a3-6000-7c44-9a51-6f0d2b7e8c10',
  group: 'quota',
  reason: 'handler_failed',
  detail: 'TypeError: x is not iterable',
  from_partition: 3,
  from_offset: 4711,
  headers: { ce_type: 'vision.task.changed.v1', ce_source: 'tasks' },
  payload: '{"task_id":"019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10","status":"running"}',
  payload_bytes: 69,
  is_cut: false,
};

const away = () => fail.sysUnavailable('tasks_unavailable');

export const listDeadLettersRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listDeadLetters',
      method: 'get',
      path: '/admin/v1/dead-letters/{topic}',
      summary: 'Returns the newest dead letters of a topic',
      tag: 'Dead letters',
      audience: 'admin',
      params: topicPath,
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(1000).default(50) }),
      responses: {
        200: {
          description: 'Oldest first; `limit` for each partition at most',
          schema: listQuestion.reply,
          example: { items: [deadLetter.parse(example)] },
        },
      },
      refusalExamples: () => [away()],
    },
    async ({ params, query, signal }) => ({
      status: 200,
      body: await listDeadLetters(deps, { topic: params.topic, limit: query.limit, signal }),
    }),
  );

export const showDeadLetterRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'showDeadLetter',
      method: 'get',
      path: '/admin/v1/dead-letters/{topic}/records/{letter}',
      summary: 'Returns a dead letter in full',
      description: 'Values that look secret are hidden. An id is searched among the newest 10000 records.',
      tag: 'Dead letters',
      audience: 'admin',
      params: letterPath,
      responses: { 200: { description: 'The record', schema: shownDeadLetter, example } },
      refusalExamples: () => [fail.notFound('There is no such dead letter.', 'dead_letter_not_found'), away()],
    },
    async ({ params, signal }) => ({ status: 200, body: await showDeadLetter(deps, { ...params, signal }) }),
  );

export const replayDeadLettersRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'replayDeadLetters',
      method: 'post',
      path: '/admin/v1/dead-letters/{topic}/replay',
      summary: 'Publishes dead letters to their topic again',
      description:
        'A second call continues after the first. Consumers compare ids and versions, so repeats change nothing.',
      tag: 'Dead letters',
      audience: 'admin',
      headers: operatorHeaders,
      params: topicPath,
      body: z.strictObject(replayRequest.shape).meta({ id: 'Replay' }),
      bodyExample: { limit: 500 },
      responses: {
        200: {
          description: 'Number of replayed records',
          schema: replayedDeadLetters,
          example: { replayed: 3, is_done: true },
        },
      },
      refusalExamples: () => [operatorInvalid(), away()],
    },
    async ({ params, body, req }) => ({
      status: 200,
      body: await replayDeadLetters(deps, { topic: params.topic, limit: body.limit, actor: actorOf(req) }),
    }),
  );
