import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { stopTask } from '../use-cases/follow/stop-task.ts';
import { exampleTask, taskView } from '@vision/contracts/task-view';
import { taskParams, taskRefusals, toView } from './task-view.ts';

export const stopTaskRoute = (deps: Deps) =>
  route(
    {
      operation: 'stopTask',
      method: 'post',
      path: '/v1/vision/tasks/{task_id}/stop',
      summary: 'Stops a video task',
      description:
        'Waits up to 10 s for the task to stop. If the response still says `stopping`, the service completes the stop ' +
        'in the background.',
      tag: 'Video tasks',
      audience: 'public',
      params: taskParams,
      responses: { 200: { description: 'The task after the stop', schema: taskView, example: exampleTask('stopped') } },
      refusalExamples: () => [...taskRefusals(), fail.notStoppable('succeeded')],
    },
    async ({ params, caller }) => ({
      status: 200,
      body: toView(await stopTask(deps, { subject: caller.subject, taskId: params.task_id })),
    }),
  );
