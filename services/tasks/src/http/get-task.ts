import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getTask } from '../use-cases/follow/get-task.ts';
import { exampleTask, taskView } from '@vision/contracts/task-view';
import { taskParams, taskRefusals, toView } from './task-view.ts';

export const getTaskRoute = (deps: Pick<Deps, 'db' | 'images'>) =>
  route(
    {
      operation: 'getTask',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}',
      summary: 'Returns a task',
      tag: 'Video tasks',
      audience: 'public',
      params: taskParams,
      responses: { 200: { description: 'The task', schema: taskView, example: exampleTask('succeeded') } },
      refusalExamples: taskRefusals,
    },
    async ({ params, caller }) => ({
      status: 200,
      body: toView(await getTask(deps, { subject: caller.subject, taskId: params.task_id })),
    }),
  );
