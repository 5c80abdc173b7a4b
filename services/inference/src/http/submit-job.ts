import { z } from 'zod';
import { job, newJob, processorTimeHeader, refusal } from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Reply } from '@vision/shared/http/route';
import { submitJob } from '../use-cases/submit-job.ts';
import type { SubmitJobDeps, SubmitJobOutcome, Submitted } from '../use-cases/submit-job.ts';

const RETRY_AFTER_S = 5;

export const submitJobRoute = (deps: SubmitJobDeps) =>
  route(
    {
      operation: 'submitJob',
      method: 'post',
      path: '/v1/jobs',
      summary: 'Accepts a video job',
      audience: 'backend',
      // Parsed here: what does not fit is a refusal of the contract (422), not a 400.
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
      if (!input.success) return { status: 422, body: { reason: 'request_invalid' } };
      const outcome = await submitJob(deps, input.data);
      return withCost(toReply(outcome), outcome);
    },
  );

function toReply(outcome: SubmitJobOutcome): Reply {
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
      return { status: 503, body: { reason: outcome.reason }, headers: { 'Retry-After': String(RETRY_AFTER_S) } };
  }
}

function withCost(reply: Reply, { processorMs = 0 }: Submitted): Reply {
  return { ...reply, headers: { ...reply.headers, [processorTimeHeader]: String(processorMs) } };
}
