import type { IncomingMessage } from 'node:http';
import { guardBody } from '@vision/shared/http/body-guard';
import type { BodyLimits } from '@vision/shared/http/body-guard';

/** The whole request body. @throws AppError of kind invalid: too large, too slow, or cut off. */
export async function readBody(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const guard = guardBody(req, limits);
  const chunks: Buffer[] = [];
  const onData = (chunk: Buffer) => chunks.push(chunk);
  const read = new Promise<void>((resolve) => {
    req.on('data', onData).once('end', resolve);
  });
  try {
    await Promise.race([read, guard.broken]);
    return Buffer.concat(chunks);
  } finally {
    guard.release();
    req.off('data', onData);
  }
}
