import { z } from 'zod';
import { fail } from '@vision/contracts/errors';
import { exampleTask } from '@vision/contracts/task-view';
import { route } from '@vision/shared/http/route';
import { deleteTask } from '../use-cases/retain/delete-task.ts';
import type { Deps } from '../use-cases/deps.ts';
import { taskParams, taskRefusals } from './task-view.ts';

const deletion = z
  .object({
    task_id: z.uuid(),
    deleted_at: z.iso.datetime().describe('Time of the deletion'),
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
        'Deletes the task with its results, tracks, alarms, and uploaded video or images. After the response the task ' +
        'cannot be read, nor can its results: only if a part of the service was unavailable during the request, results ' +
        'can be read for some seconds after it is back. Stored copies, events and alarms are removed in the background. ' +
        'Units are not returned. A repeat returns the same response. A create request with the `Idempotency-Key` of the ' +
        'task is rejected with 404 `task_not_found`.',
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
