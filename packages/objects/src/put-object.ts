import type { IncomingHttpHeaders } from 'node:http';
import { finished } from 'node:stream/promises';
import { sendSigned } from './send-signed.ts';
import type { ObjectTarget, Send, SignedRequest } from './send-signed.ts';

export type SignedPut = Pick<SignedRequest, 'key' | 'headers' | 'body' | 'sha256'>;

/**
 * Stores an object with one request: the S3 client sends no checksums of ours, and collects a stream before it sends
 * it.
 * @returns the headers of the answer. @throws Error with the `code` of the store when it refuses.
 */
export async function putObject(send: Send, target: ObjectTarget, put: SignedPut): Promise<IncomingHttpHeaders> {
  const reply = await sendSigned(send, target, { ...put, method: 'PUT' });
  await finished(reply.resume());
  return reply.headers;
}
