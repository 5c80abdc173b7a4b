import { z } from 'zod';
import { republished, republishRequest } from '@vision/contracts/outbox';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { republishOutbox } from '../../use-cases/republish-outbox.ts';
import { actorOf, operatorHeaders, operatorInvalid } from './schemas.ts';

const republication = z
  .strictObject({ ...republishRequest.shape, service: z.enum(['tasks', 'images', 'results', 'notify']) })
  .meta({ id: 'Republication' });

const example: z.infer<typeof republished> = {
  events: 412,
  by_type: { 'vision.task.changed.v1': 412 },
  first_at: '2026-03-15T08:30:00.000Z',
  last_at: '2026-03-15T09:10:00.000Z',
  next_cursor: '',
};

export const republishOutboxRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'republishOutbox',
      method: 'post',
      path: '/admin/v1/outbox/republish',
      summary: 'Publishes the events of a period again, page by page, or counts them',
      description:
        'For a Kafka that lost its data. Published events are kept for seven days. Consumers know ids and versions, ' +
        'so repeats change nothing.',
      tag: 'Upkeep',
      audience: 'admin',
      headers: operatorHeaders,
      body: republication,
      bodyExample: {
        service: 'tasks',
        from: '2026-03-15T08:00:00.000Z',
        to: '2026-03-15T10:00:00.000Z',
        dry_run: true,
        limit: 1000,
      },
      responses: { 200: { description: 'Published or counted events', schema: republished, example } },
      refusalExamples: () => [operatorInvalid(), fail.sysUnavailable('tasks_unavailable')],
    },
    async ({ body, req }) => ({ status: 200, body: await republishOutbox(deps, { ...body, actor: actorOf(req) }) }),
  );
