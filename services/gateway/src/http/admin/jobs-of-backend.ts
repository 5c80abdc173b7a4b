import { z } from 'zod';
import { job } from '@vision/contracts/inference';
import { exampleTaskRecord, listJobsOfBackend as listing } from '@vision/contracts/tasks';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { listJobsOfBackend, stopJobOfBackend } from '../../use-cases/jobs-of-backend.ts';
import { actorOf, operatorHeaders, operatorInvalid, words } from './schemas.ts';

const exampleJob = { job_id: exampleTaskRecord.task_id, status: 'running' as const, frames_published: 118, attempt: 0 };
const example: z.infer<typeof listing.reply> = { items: [{ job: exampleJob }], next_cursor: '' };
const stop = z.strictObject({ reason: words(1000).min(1) }).meta({ id: 'JobStop' });

export const listJobsOfBackendRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'listJobsOfBackend',
      method: 'get',
      path: '/admin/v1/backend-jobs',
      summary: 'Lists jobs that have not ended at the inference backend, each with its task if tasks knows it',
      description:
        'After a restore of an older copy of tasks, a job may have no task. It continues and is charged to no subject.',
      tag: 'Tasks',
      audience: 'admin',
      query: z.strictObject({
        after: z.uuid().optional().describe('next_cursor of the page before'),
        limit: z.coerce.number<string>().int().min(1).max(100).default(100),
      }),
      responses: { 200: { description: 'In the order of their ids', schema: listing.reply, example } },
      refusalExamples: () => [
        fail.notFound('This inference backend does not list its jobs.', 'jobs_not_listed'),
        fail.upstreamDown('inference_unreachable'),
        fail.sysUnavailable('tasks_unavailable'),
      ],
    },
    async ({ query, signal }) => ({ status: 200, body: await listJobsOfBackend(deps, query, signal) }),
  );

export const stopJobOfBackendRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'stopJobOfBackend',
      method: 'post',
      path: '/admin/v1/backend-jobs/{id}/stop',
      summary: 'Stops a job at the inference backend that no task stops',
      description: 'The task of the job is unknown or has ended. To stop the job of a running task, stop the task.',
      tag: 'Tasks',
      audience: 'admin',
      headers: operatorHeaders,
      params: z.object({ id: z.uuid() }),
      body: stop,
      bodyExample: { reason: 'its task was lost in the restore to 08:00' },
      responses: { 200: { description: 'The job', schema: job, example: { ...exampleJob, status: 'stopped' } } },
      refusalExamples: () => [
        operatorInvalid(),
        fail.conflict('task_runs', 'The job belongs to a task that runs; stop the task.'),
        fail.upstreamDown('inference_unreachable'),
        fail.sysUnavailable('tasks_unavailable'),
      ],
    },
    async ({ params, body, req }) => ({
      status: 200,
      body: await stopJobOfBackend(deps, { jobId: params.id, reason: body.reason, actor: actorOf(req) }),
    }),
  );
