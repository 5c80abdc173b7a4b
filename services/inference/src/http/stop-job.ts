import { z } from 'zod';
import { job } from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { stopJob } from '../use-cases/stop-job.ts';

export const stopJobRoute = (deps: Pick<Deps, 'db' | 'wakeWorker'>) =>
  route(
    {
      operation: 'stopJob',
      method: 'post',
      path: '/v1/jobs/{job_id}/stop',
      summary: 'Stops a job, also one that is submitted later; idempotent',
      audience: 'backend',
      params: z.object({ job_id: z.string() }),
      responses: {
        200: { description: 'Already ended, or unknown and now recorded as stopped.', schema: job },
        202: { description: 'Stopping; poll the job.', schema: job },
      },
    },
    async ({ params }) => {
      const stopped = await stopJob(deps, params.job_id);
      return { status: stopped.status === 'stopping' ? 202 : 200, body: stopped };
    },
  );
