import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from 'minio';
import { asAppError, fail } from '../errors.ts';
import type { S3Call } from './transport.ts';

/** What every exchange with the store needs. */
export interface Context {
  client: Client;
  calls: AsyncLocalStorage<S3Call>;
  bucket: string;
  deadlineMs: number;
  useSSL: boolean;
}

export interface CallLimits {
  signal?: AbortSignal | undefined;
  /** false: only the idle limit applies. */
  deadlineMs?: number | false;
  exchanges?: S3Call['exchanges'];
}

/** Runs one exchange under a deadline and the caller's signal and turns every failure into an AppError. */
export async function answered<T>(
  { calls, deadlineMs }: Context,
  limits: CallLimits,
  work: () => Promise<T>,
): Promise<T> {
  limits.signal?.throwIfAborted();
  const controller = new AbortController();
  const ms = limits.deadlineMs ?? deadlineMs;
  const timer = ms === false ? undefined : setTimeout(() => controller.abort(timedOut(ms)), ms);
  const onAbort = () => controller.abort(limits.signal?.reason);
  limits.signal?.addEventListener('abort', onAbort, { once: true });
  const aborted = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true });
  });
  aborted.catch(() => undefined);
  try {
    // The client can wait for ever on a body that was given up, so the abort has to win by itself.
    return await Promise.race([calls.run({ signal: controller.signal, exchanges: limits.exchanges }, work), aborted]);
  } catch (error) {
    throw limits.signal?.aborted ? limits.signal.reason : unavailable(error);
  } finally {
    clearTimeout(timer);
    limits.signal?.removeEventListener('abort', onAbort);
  }
}

/** The AppError for a failure of the store. */
export function unavailable(error: unknown): Error {
  const known = asAppError(error);
  if (known) return known;
  const { code } = error as { code?: unknown };
  if (code === 'NoSuchKey' || code === 'NotFound') return fail.notFound('There is no such object.', 'object_not_found');
  return fail.sysUnavailable('object_store_unavailable', error);
}

function timedOut(ms: number): Error {
  return Object.assign(new Error(`the object store did not answer within ${ms} ms`), { code: 'ETIMEDOUT' });
}
