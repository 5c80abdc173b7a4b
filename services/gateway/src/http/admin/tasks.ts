import { z } from 'zod';
import { uuidForm } from '@vision/shared/contracts/ids';
import { exampleTaskRecord, internalTask, listResolvingTasks as question } from '@vision/shared/contracts/tasks';
import { fail } from '@vision/shared/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { listResolvingTasks } from '../../use-cases/list-resolving-tasks.ts';
import { verifyTask } from '../../use-cases/verify-task.ts';
import { actorOf, operatorHeaders, operatorInvalid, words } from './schemas.ts';

const verification = z
  .strictObject({ outcome: z.enum(['created', 'not_created']), note: words(1000).default('') })
  .meta({ id: 'TaskVerification' });

export const listResolvingTasksRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listResolvingTasks',
      method: 'get',
      path: '/admin/v1/tasks',
      summary: 'Tasks that wait for a verification, with their age and what is known',
      tag: 'Tasks of unknown outcome',
      audience: 'admin',
      query: z.strictObject({ status: z.literal('resolving') }),
      responses: {
        200: { description: 'Oldest first', schema: question.reply, example: { items: [exampleTaskRecord] } },
      },
      refusalExamples: () => [fail.sysUnavailable('tasks_unavailable')],
    },
    async ({ signal }) => ({ status: 200, body: await listResolvingTasks(deps, signal) }),
  );

export const verifyTaskRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'verifyTask',
      method: 'post',
      path: '/admin/v1/tasks/{id}/verification',
      summary: 'Say whether the inference backend created the job of a task',
      description: 'Repeating an outcome changes nothing; contradicting it is 409.',
      tag: 'Tasks of unknown outcome',
      audience: 'admin',
      headers: operatorHeaders,
      params: z.object({ id: uuidForm }),
      body: verification,
      bodyExample: { outcome: 'not_created', note: 'The backend has no such job' },
      responses: {
        200: { description: 'The task', schema: internalTask, example: { ...exampleTaskRecord, status: 'refunded' } },
      },
      refusalExamples: () => [
        operatorInvalid(),
        fail.notFound('There is no such task.', 'task_not_found'),
        fail.verificationContradicts('running'),
        fail.verificationDisproved({ job_status: 'running', frames_published: 118, seen_before: false }),
        fail.taskNotResolving('running'),
        fail.upstreamDown('inference_unreachable'),
        fail.sysUnavailable('tasks_unavailable'),
      ],
    },
    async ({ params, body, req }) => ({
      status: 200,
      body: await verifyTask(deps, { taskId: params.id, ...body, actor: actorOf(req) }),
    }),
  );
