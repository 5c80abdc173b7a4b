import type { IncomingMessage } from 'node:http';
import { guardBody } from './body-guard.ts';
import type { BodyLimits } from './body-guard.ts';

/** A reply holds more bytes than its reader takes. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/**
 * The whole body of a reply. A body that is not read to its end is destroyed.
 * @throws BodyTooLargeError beyond `maxBytes`; any error of the stream.
 */
export async function readBody(body: AsyncIterable<unknown>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new BodyTooLargeError(`more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The whole body of a request. Beyond a limit it stays open, so that the refusal reaches the client.
 * @throws AppError OP-TASK-REQUEST-INVALID: `body_too_large`, `body_too_slow` or `body_incomplete`.
 */
export async function readRequestBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const guard = guardBody(req, limits);
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  const onData = (chunk: Buffer) => chunks.push(chunk);
  req.on('data', onData).once('end', onEnd);
  try {
    // eslint-disable-next-line no-restricted-syntax -- the listeners of both sides are taken off below
    await Promise.race([ended, guard.broken]);
    return Buffer.concat(chunks);
  } finally {
    guard.release();
    req.off('data', onData).off('end', onEnd);
  }
}
