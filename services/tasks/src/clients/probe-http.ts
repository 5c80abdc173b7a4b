import type { IncomingMessage } from 'node:http';
import { createBudget } from '@vision/streams/budget';
import { SNIFF_BYTES } from '@vision/streams/container-format';
import { drop, httpGet } from '@vision/streams/http-get';
import { credentialsOf } from '@vision/streams/stream-url';
import { mayBeStream } from '../domain/stream-content.ts';
import { ProbeError, connectTo } from './probe-target.ts';
import type { ProbeTarget } from './probe-target.ts';

/** Maximum wait for the rest after the first bytes: some streams begin slowly. */
const SNIFF_MS = 1_000;

/**
 * GET with credentials as Basic authentication, repeated with Digest if the server requires it: expects a status below
 * 300 and a beginning that the backend can read. Refuses a redirect: it leads to an unchecked address, and the backend
 * does not follow it either.
 */
export async function probeHttp(target: ProbeTarget): Promise<void> {
  const { url, ca, connectMs, signal } = target;
  const answer = await httpGet(url, {
    connect: () => connectTo(target),
    credentials: credentialsOf(url),
    ca,
    openTimeoutMs: connectMs,
    budget: createBudget({ signal }),
    signal,
  });
  try {
    checkStatus(answer.statusCode ?? 0);
    if (!mayBeStream(await firstBytes(answer), answer.headers['content-type'])) throw new ProbeError('not_a_stream');
  } finally {
    drop(answer);
  }
}

function checkStatus(status: number): void {
  if (status >= 300 && status < 400) throw new ProbeError('redirected');
  if (status < 200 || status >= 400) throw new ProbeError('refused');
}

function firstBytes(answer: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let timer: NodeJS.Timeout | undefined;
    const finish = () => {
      clearTimeout(timer);
      answer.pause();
      resolve(Buffer.concat(chunks).subarray(0, SNIFF_BYTES));
    };
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      timer ??= setTimeout(finish, SNIFF_MS);
      if (size >= SNIFF_BYTES) finish();
    });
    answer.once('end', finish);
    answer.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}
