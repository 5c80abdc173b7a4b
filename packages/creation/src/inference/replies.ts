import type { z } from 'zod';
import { refusal } from '@vision/contracts/inference';
import { AppError, fail } from '@vision/contracts/errors';
import type { Settled, Verdict } from '@vision/shared/http/breaker';
import { bodyAs, CallError } from '@vision/shared/http/call';
import type { CallReply } from '@vision/shared/http/call';
import { outcomeOf } from '@vision/shared/upstream/classify';
import { isTimeout } from '@vision/shared/upstream/error-type';
import type { CallOutcome } from '@vision/shared/upstream/error-type';

/**
 * 4xx and refusals for lack of capacity (503 with the reason `saturated`) are responses of a healthy backend; a client
 * that disconnected and an unknown name say nothing about it.
 */
export function classifyReply(settled: Settled<CallReply>): Verdict {
  if ('error' in settled) {
    const { error } = settled;
    const saysNothing = error instanceof CallError && ['aborted', 'name_unknown'].includes(error.reason);
    return error instanceof AppError || saysNothing ? 'neutral' : 'fault';
  }
  const { status } = settled.value;
  if (status < 300) return 'ok';
  if (status === 503 && bodyAs(refusal, settled.value)?.reason === 'saturated') return 'neutral';
  return status >= 400 && status < 500 ? 'neutral' : 'fault';
}

/**
 * After an immediate failure or an unexpected response, a create request continues to its submission, whose outcome
 * counts. After a timeout the create request ends, so the timeout counts as a fault.
 */
export const classifyCapacity = (settled: Settled<CallReply>): Verdict =>
  'error' in settled && isTimeout(outcomeOf(settled.error)) ? 'fault' : 'neutral';

/** The outcome in spans and metrics of a refusal for lack of capacity. */
export function wordFor({ status, body }: CallReply): CallOutcome | undefined {
  return status === 503 && refusal.safeParse(body).data?.reason === 'saturated' ? 'saturated' : undefined;
}

/** Turns a missing response into the caller's error; after an abort it throws the reason of `signal`. */
export async function unavailableOn(reply: Promise<CallReply>, signal?: AbortSignal): Promise<CallReply> {
  try {
    return await reply;
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw error instanceof CallError ? asUnavailableError(error) : error;
  }
}

/** The caller's error for a call without a response. */
export function asUnavailableError(error: CallError): AppError {
  if (error.reason === 'name_unknown') return fail.sysUnavailable('inference_name_unknown', error);
  return fail.upstreamDown('inference_unreachable', error);
}

/** @throws AppError OP-TASK-UPSTREAM-DOWN for a response of another form or status. */
export function expectBody<T>(schema: z.ZodType<T>, reply: CallReply): T {
  const body = reply.status < 300 ? bodyAs(schema, reply) : undefined;
  if (body === undefined) throw fail.upstreamDown('inference_answer_unexpected', new Error(`status ${reply.status}`));
  return body;
}
