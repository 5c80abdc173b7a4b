import { z } from 'zod';
import { clientRef } from '@vision/contracts/create-query';
import { taskStatus } from '@vision/contracts/task-events';
import { refusalOf } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { readHistoryCursor } from '../domain/history-cursor.ts';
import type { Deps } from '../use-cases/deps.ts';
import { listTasks } from '../use-cases/follow/list-tasks.ts';
import { exampleTask } from '@vision/contracts/task-view';
import { historyEntry, toHistoryEntry } from './task-view.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;

const instant = z.iso.datetime({ offset: true });
/** PostgreSQL refuses some dates as text, such as the year 0000. */
const asDate = instant.pipe(z.coerce.date()).optional();

const parameters = z.strictObject({
  cursor: z.string().max(500).optional().describe('`next_cursor` of an earlier page'),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `Send a whole number from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .pipe(z.int().min(1).max(MAX_LIMIT))
    .default(DEFAULT_LIMIT),
  status: taskStatus.optional(),
  scene_code: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .optional(),
  kind: z.enum(['video', 'image']).optional(),
  client_ref: clientRef.optional().describe('Only tasks created with this `client_ref`'),
  created_after: asDate,
  created_before: asDate,
  order: z
    .enum(['newest', 'oldest'])
    .default('newest')
    .describe('Order of creation. Send the same for all pages of a list: a cursor works with no other'),
});

const query = parameters.refine(
  ({ created_after: from, created_before: to }) => from === undefined || to === undefined || from < to,
  { path: ['created_before'], error: 'Send a time after created_after' },
);

/** For the OpenAPI document only: numbers and dates in a query arrive as text. */
const documented = parameters.extend({
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('Maximum number of tasks per page'),
  created_after: instant.optional().describe('Earliest creation time, inclusive'),
  created_before: instant.optional().describe('Latest creation time, exclusive; later than `created_after`'),
});

const page = z
  .object({
    items: z.array(historyEntry),
    next_cursor: z.string().describe('Cursor of the next page; empty on the last page'),
  })
  .meta({ id: 'TaskPage' });

export const listTasksRoute = (deps: Pick<Deps, 'db' | 'cursorBox'>) =>
  route(
    {
      operation: 'listTasks',
      method: 'get',
      path: '/v1/vision/tasks',
      summary: 'Lists video tasks and image calls',
      description:
        'Returns your tasks and image calls until their results expire. Filters may change from page to page.',
      tag: 'Video tasks',
      audience: 'public',
      query,
      queryDoc: documented,
      responses: {
        200: {
          description: 'Page of tasks',
          schema: page,
          example: {
            items: [{ ...exampleTask('running'), kind: 'video', client_ref: 'yard-gate-3' }],
            next_cursor: '',
          },
        },
      },
      refusalExamples: () => [
        refusalOf(() => readHistoryCursor({ matches: () => false }, { subject: '', order: 'newest' }, 'x')),
      ],
    },
    async ({ query: asked, caller }) => {
      const { tasks, nextCursor } = await listTasks(deps, {
        subject: caller.subject,
        cursor: asked.cursor,
        limit: asked.limit,
        status: asked.status,
        sceneCode: asked.scene_code,
        kind: asked.kind,
        clientRef: asked.client_ref,
        createdAfter: asked.created_after,
        createdBefore: asked.created_before,
        order: asked.order,
      });
      return { status: 200, body: { items: tasks.map(toHistoryEntry), next_cursor: nextCursor } };
    },
  );
