import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';

export interface BodyLimits {
  /** Bytes of the whole body as they arrive, framing included. */
  maxBytes: number;
  /** Longest silence between two chunks. */
  idleMs: number;
  /** Longest time for the whole body. */
  totalMs: number;
}

export interface BodyGuard {
  /** Rejects with the refusal as soon as a limit is passed or the client goes away; never resolves by itself. */
  broken: Promise<never>;
  /** Ends the watch; call it when the body was read. */
  release: () => void;
}

/**
 * Watches a request body on the raw stream, for every parser. A declared length above the limit is refused
 * before a byte is read. Call it in the same tick in which the parser is attached: listening starts the flow.
 * @throws AppError OP-TASK-REQUEST-INVALID `body_too_large`.
 */
export function guardBody(req: IncomingMessage, limits: BodyLimits): BodyGuard {
  if (Number(req.headers['content-length'] ?? 0) > limits.maxBytes) throw tooLarge(limits);
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const refuse = (error: AppError) => reject(error);
  broken.catch(() => undefined);
  let seen = 0;
  const slow = () => refuse(fail.requestInvalid('body_too_slow', 'The body did not arrive in time.'));
  const total = setTimeout(slow, limits.totalMs);
  let idle = setTimeout(slow, limits.idleMs);
  const onData = (chunk: Buffer) => {
    seen += chunk.length;
    clearTimeout(idle);
    idle = setTimeout(slow, limits.idleMs);
    if (seen > limits.maxBytes) refuse(tooLarge(limits));
  };
  const onGone = () => {
    if (!req.complete) refuse(fail.requestInvalid('body_incomplete', 'The body ended too early.'));
  };
  const release = () => {
    clearTimeout(total);
    clearTimeout(idle);
    req.off('data', onData).off('aborted', onGone).off('close', onGone).off('end', release);
  };
  req.on('data', onData).on('aborted', onGone).on('close', onGone).on('end', release);
  return { broken, release };
}

function tooLarge({ maxBytes }: BodyLimits): AppError {
  return fail.requestInvalid('body_too_large', `The request body is larger than ${maxBytes} bytes.`);
}
