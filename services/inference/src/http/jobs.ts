import type { Knex } from 'knex';
import { z } from 'zod';
import { job, jobList, newJob, refusal } from '@vision/shared/contracts/inference';
import { fail } from '@vision/shared/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { findJobs } from '../db/jobs.ts';
import { toJob } from '../domain/job.ts';
import { stopJob } from '../use-cases/stop-job.ts';
import type { StopJobDeps } from '../use-cases/stop-job.ts';
import { submitJob } from '../use-cases/submit-job.ts';
import type { SubmitJobDeps } from '../use-cases/submit-job.ts';

export interface JobsRouteDeps extends SubmitJobDeps, StopJobDeps {
  db: Knex;
}

const RETRY_AFTER_S = 5;
const MAX_IDS = 100;
const jobParams = z.object({ job_id: z.string() });
const isUuid = (text: string) => z.uuid().safeParse(text).success;

export function jobRoutes(deps: JobsRouteDeps): Route[] {
  return [submitRoute(deps), listRoute(deps), getRoute(deps), stopRoute(deps)];
}

const submitRoute = (deps: SubmitJobDeps) =>
  route(
    {
      operation: 'submitJob',
      method: 'post',
      path: '/v1/jobs',
      summary: 'Accept a video job.',
      audience: 'backend',
      // Parsed by hand: what does not fit is refused for good, in the words of the contract.
      body: z.unknown(),
      responses: {
        200: { description: 'A job with this job_id and the same content exists.', schema: job },
        201: { description: 'Accepted.', schema: job },
        409: { description: 'A job with this job_id and other content exists.', schema: refusal },
        422: { description: 'Rejected for good. Nothing was created.', schema: refusal },
        503: { description: 'No capacity. Nothing was created.', schema: refusal },
      },
    },
    async ({ body }) => {
      const input = newJob.safeParse(body);
      if (!input.success || !isUuid(input.data.job_id)) return { status: 422, body: { reason: 'request_invalid' } };
      const outcome = await submitJob(deps, input.data);
      switch (outcome.kind) {
        case 'created':
          return { status: 201, body: outcome.job };
        case 'known':
          return { status: 200, body: outcome.job };
        case 'conflict':
          return { status: 409, body: { reason: outcome.reason } };
        case 'rejected':
          return { status: 422, body: { reason: outcome.reason } };
        case 'no_capacity':
          return {
            status: 503,
            body: { reason: outcome.reason },
            headers: { 'Retry-After': String(RETRY_AFTER_S) },
          };
      }
    },
  );

const listRoute = ({ db }: Pick<JobsRouteDeps, 'db'>) =>
  route(
    {
      operation: 'listJobs',
      method: 'get',
      path: '/v1/jobs',
      summary: 'Read many jobs at once; ids that do not exist are left out.',
      audience: 'backend',
      query: z.object({ ids: z.string().describe('Up to 100 job ids, separated by commas') }),
      responses: { 200: { description: 'The jobs found.', schema: jobList } },
    },
    async ({ query }) => {
      const ids = query.ids.split(',').filter((id) => id !== '');
      if (ids.length > MAX_IDS) throw fail.requestInvalid('too_many_ids', 'Ask for 100 ids at most.', { field: 'ids' });
      return { status: 200, body: { jobs: (await findJobs(db, ids.filter(isUuid))).map(toJob) } };
    },
  );

const getRoute = ({ db }: Pick<JobsRouteDeps, 'db'>) =>
  route(
    {
      operation: 'getJob',
      method: 'get',
      path: '/v1/jobs/{job_id}',
      summary: 'Read a job.',
      audience: 'backend',
      params: jobParams,
      responses: { 200: { description: 'The job.', schema: job } },
    },
    async ({ params }) => {
      const [found] = isUuid(params.job_id) ? await findJobs(db, [params.job_id]) : [];
      if (!found) throw fail.notFound('There is no such job.', 'job_not_found');
      return { status: 200, body: toJob(found) };
    },
  );

const stopRoute = (deps: StopJobDeps) =>
  route(
    {
      operation: 'stopJob',
      method: 'post',
      path: '/v1/jobs/{job_id}/stop',
      summary: 'Stop a job. Idempotent; sticks for ids not known yet.',
      audience: 'backend',
      params: jobParams,
      responses: {
        200: { description: 'Already ended, or unknown and now recorded as stopped.', schema: job },
        202: { description: 'Stopping; poll the job.', schema: job },
      },
    },
    async ({ params: { job_id: jobId } }) => {
      // No job can have such an id, so there is nothing to remember.
      if (!isUuid(jobId)) return { status: 200, body: { job_id: jobId, status: 'stopped', frames_published: 0 } };
      const stopped = await stopJob(deps, jobId.toLowerCase());
      return { status: stopped.status === 'stopping' ? 202 : 200, body: stopped };
    },
  );
