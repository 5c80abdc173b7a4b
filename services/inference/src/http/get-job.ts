import { z } from 'zod';
import { job } from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getJob } from '../use-cases/get-job.ts';

export const getJobRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'getJob',
      method: 'get',
      path: '/v1/jobs/{job_id}',
      summary: 'Returns a job',
      audience: 'backend',
      params: z.object({ job_id: z.string() }),
      responses: { 200: { description: 'The job.', schema: job } },
    },
    async ({ params }) => ({ status: 200, body: await getJob(deps, params.job_id) }),
  );
