import { createHash } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '@vision/shared/http/read-body';
import { KEPT_MS } from '@vision/shared/testing/kept-connections';

/** What the store answers in place of the truth. All but `refuses` concern whole objects whose key has this text. */
export type Lie =
  | { kind: 'none' }
  /** An object is read as its first half, and the answer says that this is all. */
  | { kind: 'short_body'; keys: string }
  /** An object of the right size, some of whose bytes are others. */
  | { kind: 'wrong_bytes'; keys: string }
  /** An object is taken, with the answer that S3 gives, and is nowhere. */
  | { kind: 'loses_object'; keys: string }
  /** Requests with this method, with this in their path and this in their query, are answered with 403. */
  | { kind: 'refuses'; method: 'GET' | 'PUT' | 'POST'; keys?: string; query?: string };

export interface LyingS3 {
  port: number;
  tell: (lie: Lie) => void;
  /** Requests that a lie was told to: a run in which this stays 0 has shown nothing. */
  hits: () => number;
  close: () => Promise<void>;
}

/**
 * An HTTP proxy on a free port of the loopback interface before an S3 server. Without a lie it passes everything on as
 * it is; signatures hold, since the host that was asked is passed on too.
 */
export async function startLyingS3(s3Port: number): Promise<LyingS3> {
  let lie: Lie = { kind: 'none' };
  let hits = 0;
  const server = createServer({ keepAliveTimeout: KEPT_MS, requestTimeout: 0 }, (req, res) => {
    const told = isMet(lie, req) ? lie : ({ kind: 'none' } as const);
    if (told.kind !== 'none') hits += 1;
    if (told.kind === 'refuses') refuse(req, res);
    else if (told.kind === 'loses_object') lose(req, res).catch(() => res.destroy());
    else pass(s3Port, { req, res, change: changeOf(told) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    tell: (next) => {
      lie = next;
    },
    hits: () => hits,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An object itself, not a list, a part of an upload or a question about the bucket. */
function isMet(lie: Lie, { method, url = '' }: IncomingMessage): boolean {
  if (lie.kind === 'none') return false;
  const [path = '', query = ''] = url.split('?');
  const names = (keys = '') => decodeURIComponent(path).includes(keys);
  if (lie.kind === 'refuses') return method === lie.method && names(lie.keys) && query.includes(lie.query ?? '');
  const isWanted = method === (lie.kind === 'loses_object' ? 'PUT' : 'GET');
  return isWanted && query === '' && names(lie.keys);
}

function refuse(req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  res.writeHead(403, { 'content-type': 'application/xml' });
  res.end('<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
}

async function lose(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await readBody(req, Infinity);
  res.writeHead(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` }).end();
}

type Change = ((body: Buffer) => Buffer) | undefined;

function changeOf(lie: Lie): Change {
  if (lie.kind === 'short_body') return (body) => body.subarray(0, body.length >> 1);
  if (lie.kind === 'wrong_bytes')
    return (body) => Buffer.from(body.map((byte, index) => (index % 64 === 0 ? byte ^ 0xff : byte)));
  return undefined;
}

interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  change: Change;
}

function pass(port: number, { req, res, change }: Exchange): void {
  const { method = 'GET', url = '/', rawHeaders } = req;
  const asked: ClientRequest = request({
    host: '127.0.0.1',
    port,
    method,
    path: url,
    headers: rawHeaders,
    agent: false,
  });
  const fail = () => {
    asked.destroy();
    res.destroy();
  };
  asked.on('error', fail).on('response', (reply) => {
    reply.on('error', fail);
    if (change && reply.statusCode === 200) void answerChanged(reply, { res, change }).catch(fail);
    else reply.pipe(res.writeHead(reply.statusCode ?? 502, reply.rawHeaders));
  });
  req.on('error', fail);
  res.on('close', () => asked.destroy());
  req.pipe(asked);
}

async function answerChanged(
  reply: IncomingMessage,
  { res, change }: { res: ServerResponse; change: NonNullable<Change> },
) {
  const body = change(await readBody(reply, Infinity));
  const { 'transfer-encoding': _framing, ...headers } = reply.headers;
  res.writeHead(200, { ...headers, 'content-length': String(body.length) }).end(body);
}
