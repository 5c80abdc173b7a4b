import { z } from 'zod';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { OPERATOR } from '../../use-cases/operator-deps.ts';
import type { OperatorDeps } from '../../use-cases/operator-deps.ts';
import { verifyTask } from '../../use-cases/verify-task.ts';
import { actorOf, words } from './schemas.ts';

/** The tasks service decides what a task shows to an operator. */
const task = z.record(z.string(), z.unknown());
const taskList = z.object({ items: z.array(task) });

export const listResolvingTasksRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'listResolvingTasks',
      method: 'get',
      path: '/admin/v1/tasks',
      summary: 'Tasks that wait for a verification, with their age and what is known',
      audience: 'admin',
      query: z.strictObject({ status: z.literal('resolving') }),
      responses: { 200: { description: 'Oldest first', schema: taskList } },
      errors: ['OP-SYS-UNAVAILABLE'],
    },
    async ({ signal }) => ({
      status: 200,
      body: await deps.owners.tasks.call(taskList, {
        method: 'GET',
        path: '/internal/v1/tasks?status=resolving',
        subject: OPERATOR,
        signal,
      }),
    }),
  );

export const verifyTaskRoute = (deps: OperatorDeps): Route =>
  route(
    {
      operation: 'verifyTask',
      method: 'post',
      path: '/admin/v1/tasks/{id}/verification',
      summary: 'Say whether the inference backend created the job of a task',
      description: 'Repeating an outcome changes nothing; contradicting it is 409.',
      audience: 'admin',
      params: z.object({ id: z.uuid() }),
      body: z.strictObject({ outcome: z.enum(['created', 'not_created']), note: words(1000).default('') }),
      responses: { 200: { description: 'The task', schema: task } },
      errors: ['OP-SYS-UNAVAILABLE', 'OP-TASK-UPSTREAM-DOWN'],
    },
    async ({ params, body, req }) => ({
      status: 200,
      body: await verifyTask(deps, { taskId: params.id, ...body, actor: actorOf(req) }),
    }),
  );
