import { listBackendJobs as question } from '@vision/contracts/tasks';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listBackendJobs } from '../use-cases/operate/list-backend-jobs.ts';

export const listBackendJobsRoute = (deps: Pick<Deps, 'db' | 'inference'>) =>
  route(
    {
      ...question,
      operation: 'listBackendJobs',
      summary: 'Lists tasks that have not ended, each with the current state of its job at the backend',
      audience: 'internal',
      responses: { 200: { description: 'Oldest first', schema: question.reply } },
      refusalExamples: () => [fail.upstreamDown('inference_unreachable')],
    },
    async ({ query }) => {
      const { items, nextCursor } = await listBackendJobs(deps, query);
      const views = items.map(({ task, ageS, job }) => ({
        task_id: task.taskId,
        subject: task.subject,
        status: task.status,
        age_s: ageS,
        job,
      }));
      return { status: 200, body: { items: views, next_cursor: nextCursor } };
    },
  );
