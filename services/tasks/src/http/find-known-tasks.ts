import { findKnownTasks as question } from '@vision/contracts/tasks';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { findKnownTasks } from '../use-cases/follow/find-known-tasks.ts';

export const findKnownTasksRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...question,
      operation: 'findKnownTasks',
      summary: 'Finds which of these ids are tasks of any subject',
      audience: 'internal',
      responses: { 200: { description: 'Ids of the tasks among them', schema: question.reply } },
    },
    async ({ body }) => ({ status: 200, body: { task_ids: await findKnownTasks(deps, body.task_ids) } }),
  );
