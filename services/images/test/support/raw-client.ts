import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { BOUNDARY } from './form.ts';

export interface RawOptions {
  token: string;
  key: string;
  headers?: Record<string, string | string[]>;
}

/** A request whose body a test writes in pieces. */
export function openPost(url: string, { token, key, headers }: RawOptions): ClientRequest {
  const req = request(`${url}/v1/vision/image-detections`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'idempotency-key': key,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...headers,
    },
  });
  req.on('error', () => undefined);
  return req;
}

/** Writes with back-pressure until all data is sent or the server has answered or closed the connection. */
export async function pump(req: ClientRequest, chunks: Iterable<Buffer>): Promise<void> {
  const over = new AbortController();
  req.once('response', () => over.abort()).once('close', () => over.abort());
  for (const chunk of chunks) {
    if (over.signal.aborted) return;
    if (!req.write(chunk)) await once(req, 'drain', { signal: over.signal }).catch(() => undefined);
  }
}

/** Status and reason of the answer; undefined when the connection broke without one. */
export async function answerOf(req: ClientRequest): Promise<{ status: number; reason: string } | undefined> {
  // eslint-disable-next-line no-restricted-syntax -- both only listen to a request that ends
  const [response] = (await Promise.race([once(req, 'response'), once(req, 'close')])) as [IncomingMessage | undefined];
  if (!response) return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const problem = JSON.parse(Buffer.concat(chunks).toString()) as { details?: { reason?: string } };
  return { status: response.statusCode ?? 0, reason: problem.details?.reason ?? '' };
}

/** Spooled files of a folder: named ones, and unnamed ones that a process still holds open. */
export async function spooled(folder: string, pid: number | 'self' = 'self'): Promise<string[]> {
  const named: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) named.push(entry.name);
  }
  const held: string[] = [];
  for (const fd of await readdir(`/proc/${pid}/fd`)) {
    const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
    if (target.startsWith(folder)) held.push(target);
  }
  return [...named, ...held];
}
