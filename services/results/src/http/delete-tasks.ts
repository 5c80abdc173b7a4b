import { deleteResults as question } from '@vision/contracts/results';
import { route } from '@vision/shared/http/route';
import { deleteTasks } from '../use-cases/retain/delete-tasks.ts';
import type { Deps } from '../use-cases/deps.ts';

export const deleteTasksRoute = (deps: Pick<Deps, 'db' | 'logger' | 'loops' | 'store'>) =>
  route(
    {
      ...question,
      operation: 'deleteResults',
      summary: 'Removes the results of tasks that their owners have deleted, and refuses later ones',
      audience: 'internal',
      responses: { 200: { description: 'Tasks whose results are deleted completely', schema: question.reply } },
    },
    async ({ body }) => ({ status: 200, body: { task_ids: await deleteTasks(deps, body.task_ids) } }),
  );
