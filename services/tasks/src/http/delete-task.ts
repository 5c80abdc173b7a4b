import { z } from 'zod';
import { fail } from '@vision/contracts/errors';
import { exampleTask } from '@vision/contracts/task-view';
import { route } from '@vision/shared/http/route';
import { deleteTask } from '../use-cases/delete-task.ts';
import type { Deps } from '../use-cases/deps.ts';
import { taskParams, taskRefusals } from './task-view.ts';

const deletion = z
  .object({
    task_id: z.uuid(),
    deleted_at: z.iso.datetime().describe('Time from which nothing of the task can be read'),
  })
  .meta({ id: 'TaskDeletion', description: 'Deleted task or image call' });

const { task_id, updated_at: deleted_at } = exampleTask('succeeded');

export const deleteTaskRoute = (deps: Pick<Deps, 'db' | 'images' | 'logger' | 'results' | 'signals'>) =>
  route(
    {
      operation: 'deleteTask',
      method: 'delete',
      path: '/v1/vision/tasks/{task_id}',
      summary: 'Deletes an ended task or an image call',
      description:
        'Deletes results, tracks, the uploaded video or images, and the task itself. The task cannot be read after the ' +
        'response. Its results neither, unless the service that has them is unavailable: then as soon as it is back. ' +
        'Stored copies and its events are removed in the background. Units are not returned. A repeat returns the same ' +
        'response, and a create request with the `Idempotency-Key` of the task is rejected with 404.',
      tag: 'Video tasks',
      audience: 'public',
      params: taskParams,
      responses: { 202: { description: 'Deleted', schema: deletion, example: { task_id, deleted_at } } },
      refusalExamples: () => [
        ...taskRefusals(),
        fail.taskNotEnded('running'),
        fail.sysUnavailable('images_unavailable'),
      ],
    },
    async ({ params, caller }) => {
      const { taskId, deletedAt } = await deleteTask(deps, { subject: caller.subject, taskId: params.task_id });
      return { status: 202, body: { task_id: taskId, deleted_at: deletedAt.toISOString() } };
    },
  );
