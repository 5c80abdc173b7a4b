import { listJobsOfBackend as listing, stopJobOfBackend as stopping } from '@vision/contracts/tasks';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listJobsOfBackend } from '../use-cases/operate/list-jobs-of-backend.ts';
import { stopJobOfBackend } from '../use-cases/operate/stop-job-of-backend.ts';

export const listJobsOfBackendRoute = (deps: Pick<Deps, 'db' | 'inference'>) =>
  route(
    {
      ...listing,
      operation: 'listJobsOfBackend',
      summary: 'Lists jobs that have not ended at the backend, each with its task if tasks knows it',
      audience: 'internal',
      responses: { 200: { description: 'In the order of their ids', schema: listing.reply } },
      refusalExamples: () => [fail.upstreamDown('inference_unreachable')],
    },
    async ({ query }) => {
      const { items, nextCursor } = await listJobsOfBackend(deps, query);
      const views = items.map(({ job, known }) => ({
        job,
        task: known && { subject: known.task.subject, status: known.task.status, age_s: known.ageS },
      }));
      return { status: 200, body: { items: views, next_cursor: nextCursor } };
    },
  );

export const stopJobOfBackendRoute = (deps: Pick<Deps, 'db' | 'inference'>) =>
  route(
    {
      ...stopping,
      operation: 'stopJobOfBackend',
      summary: 'Stops a job at the backend that no task stops',
      audience: 'internal',
      responses: { 200: { description: 'The job', schema: stopping.reply } },
      refusalExamples: () => [fail.upstreamDown('inference_unreachable')],
    },
    async ({ params }) => ({ status: 200, body: await stopJobOfBackend(deps, params.job_id) }),
  );
