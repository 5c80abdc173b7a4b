import { job, processorTimeHeader, processorTimesOf, refusal } from '@vision/contracts/inference';
import type { Job, NewJob } from '@vision/contracts/inference';
import { AppError, fail } from '@vision/contracts/errors';
import type { Breaker, Settled, Verdict } from '@vision/shared/http/breaker';
import { bodyAs, CallError } from '@vision/shared/http/call';
import type { CallReply } from '@vision/shared/http/call';
import { asUnavailableError, classifyReply } from './replies.ts';

/**
 * What a submit means, classified by what was sent and by what came back:
 * - `accepted`: the backend has the job, in the state it gives.
 * - `refused`: 409 or 422 with a Refusal; nothing was created and it never will be.
 * - `not_created`: nothing was sent, or 503 with a Refusal; `error` is the caller's error.
 * - `unknown`: anything else; the backend may have the job.
 *
 * `processorMs` is the processor time that the backend spent on looking at the source.
 */
export type SubmitOutcome = { processorMs: number } & SubmitVerdict;

type SubmitVerdict =
  | { outcome: 'accepted'; job: Job }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'not_created'; error: AppError }
  | { outcome: 'unknown'; reason: string };

/** Sends a job through its breaker and classifies what came of it; throws for no answer of the backend. */
export async function submit(breaker: Breaker, newJob: NewJob, send: () => Promise<CallReply>): Promise<SubmitOutcome> {
  const classify = (settled: Settled<CallReply>): Verdict => {
    if ('error' in settled) return classifyReply(settled);
    const { outcome } = outcomeOf(settled.value, newJob);
    return outcome === 'accepted' ? 'ok' : outcome === 'unknown' && settled.value.status >= 500 ? 'fault' : 'neutral';
  };
  try {
    const reply = await breaker.run(send, classify);
    const [processorMs = 0] = processorTimesOf(reply.headers[processorTimeHeader]);
    return { ...outcomeOf(reply, newJob), processorMs };
  } catch (error) {
    if (error instanceof AppError) return { outcome: 'not_created', error, processorMs: 0 };
    if (error instanceof CallError && error.surelyNotSent)
      return { outcome: 'not_created', error: asUnavailableError(error), processorMs: 0 };
    return { outcome: 'unknown', reason: error instanceof CallError ? error.reason : 'call_failed', processorMs: 0 };
  }
}

function outcomeOf(reply: CallReply, { job_id }: NewJob): SubmitVerdict {
  const accepted = reply.status === 200 || reply.status === 201 ? bodyAs(job, reply) : undefined;
  if (accepted?.job_id === job_id) return { outcome: 'accepted', job: accepted };
  const refused = [409, 422, 503].includes(reply.status) ? bodyAs(refusal, reply) : undefined;
  if (!refused) return { outcome: 'unknown', reason: `status_${reply.status}` };
  if (reply.status !== 503) return { outcome: 'refused', reason: refused.reason.slice(0, 500) };
  return {
    outcome: 'not_created',
    error: fail.upstreamDown('inference_no_capacity', new Error(refused.reason.slice(0, 500))),
  };
}
