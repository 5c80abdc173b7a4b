import { getTaskHistory } from '@vision/contracts/history';
import type { TaskHistory } from '@vision/contracts/history';
import { fail } from '@vision/contracts/errors';
import { route } from './route.ts';
import type { Route } from './route.ts';

/** The route by which a service tells what it knows of a task; the operation is named after what that is. */
export function taskHistoryRoute(operation: string, find: (taskId: string) => Promise<TaskHistory | undefined>): Route {
  return route(
    {
      ...getTaskHistory,
      operation,
      summary: 'Returns what this service stores about a task of any subject, and its history',
      audience: 'internal',
      responses: { 200: { description: 'Oldest first', schema: getTaskHistory.reply } },
      refusalExamples: () => [unknown()],
    },
    async ({ params }) => {
      const history = await find(params.task_id);
      if (!history) throw unknown();
      return { status: 200, body: history };
    },
  );
}

const unknown = () => fail.notFound('There is no such task.', 'task_not_found');
