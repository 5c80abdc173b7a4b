import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { defaultLimits } from '@vision/contracts/limits';
import { testToken } from '@vision/shared/testing/service-keys';
import type { Answer, CallOptions } from './system.ts';

/** The beginning of an MP4, padded to a size. */
export function mp4(bytes = 2000, fill = 1): Buffer {
  const head = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2', 'latin1');
  return Buffer.concat([head, Buffer.alloc(Math.max(0, bytes - head.length), fill)]);
}

export type Part = { name: string; value: string } | { name: string; file: Buffer; filename?: string };

const BOUNDARY = 'xxxx-boundary-xxxx';

/** A multipart body of the given parts. */
export function formOf(parts: Part[], boundary = BOUNDARY): Buffer {
  const chunks = parts.flatMap((part) => {
    const filename = 'file' in part ? `; filename="${part.filename ?? 'a.mp4'}"\r\nContent-Type: video/mp4` : '';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"${filename}\r\n\r\n`;
    return [Buffer.from(head), 'file' in part ? part.file : Buffer.from(part.value), Buffer.from('\r\n')];
  });
  return Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
}

export interface UploadOptions extends CallOptions {
  port: number;
  query?: string;
  parts?: Part[];
  /** Sends these bytes instead of a form. */
  rawBody?: Buffer | AsyncIterable<Buffer>;
  headers?: Record<string, string>;
  /** Closes the connection after this many bytes. */
  abortAfter?: number;
}

/** Posts an upload over a plain socket, so that bodies may be malformed, endless or cut off. */
export async function upload(options: UploadOptions): Promise<Answer> {
  const {
    port,
    query = '',
    parts,
    rawBody,
    headers = {},
    abortAfter,
    subject = 'subject-a',
    key,
    limits,
    maintenance,
  } = options;
  const caller = { subject, limits: { ...defaultLimits, ...limits }, maintenance };
  const token = await testToken('gateway', 'tasks', caller);
  const body =
    rawBody ??
    formOf(
      parts ?? [
        { name: 'scene_code', value: 'ship' },
        { name: 'file', file: mp4() },
      ],
    );
  const sending = request({
    host: '127.0.0.1',
    port,
    path: `/v1/vision/video-tasks${query}`,
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {}),
      ...headers,
    },
  });
  const replied = new Promise<IncomingMessage>((resolve, reject) => {
    sending.on('response', resolve);
    sending.on('error', reject);
  });
  replied.catch(() => undefined);
  if (Buffer.isBuffer(body) && abortAfter === undefined) sending.end(body);
  else if (Buffer.isBuffer(body)) sending.write(body.subarray(0, abortAfter), () => sending.destroy());
  else void pump(body, sending);
  return answerOf(await replied);
}

async function pump(body: AsyncIterable<Buffer>, sending: ReturnType<typeof request>): Promise<void> {
  const over = new AbortController();
  sending.once('close', () => over.abort());
  for await (const chunk of body) {
    if (sending.destroyed) return;
    if (!sending.write(chunk)) await once(sending, 'drain', { signal: over.signal }).catch(() => undefined);
  }
  sending.end();
}

async function answerOf(reply: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk as Buffer);
  const headers = new Headers(
    Object.entries(reply.headers).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const bytes = Buffer.concat(chunks);
  const body = JSON.parse(bytes.toString() || '{}') as Answer['body'];
  return { status: reply.statusCode ?? 0, headers, bytes, body };
}
