import { fail } from '@vision/shared/errors';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { stopTask } from '../use-cases/stop-task.ts';
import { exampleTask, taskParams, taskRefusals, taskView, toView } from './task-view.ts';

export const stopTaskRoute = (deps: Deps) =>
  route(
    {
      operation: 'stopTask',
      method: 'post',
      path: '/v1/vision/tasks/{task_id}/stop',
      summary: 'Stop a task',
      description: 'Waits some seconds for the end; a task still `stopping` after that is driven on by the service.',
      tag: 'Video tasks',
      audience: 'public',
      params: taskParams,
      responses: { 200: { description: 'The task', schema: taskView, example: exampleTask('stopped') } },
      refusalExamples: () => [...taskRefusals(), fail.notStoppable('succeeded')],
    },
    async ({ params, caller }) => ({
      status: 200,
      body: toView(await stopTask(deps, { subject: caller.subject, taskId: params.task_id })),
    }),
  );
