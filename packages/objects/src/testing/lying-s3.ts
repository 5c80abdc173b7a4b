import { createHash } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '@vision/shared/http/read-body';
import { KEPT_MS } from '@vision/shared/testing/kept-connections';

/** A false response of the store. All but `refuses` concern whole objects whose key contains this text. */
export type Lie =
  | { kind: 'none' }
  /** Returns the first half of an object as if it were complete. */
  | { kind: 'short_body'; keys: string }
  /** Returns an object of the right size with some wrong bytes. */
  | { kind: 'wrong_bytes'; keys: string }
  /** Accepts an object with the usual response, and does not store it. */
  | { kind: 'loses_object'; keys: string }
  /** Responds 403 to requests with this method, and these texts in path and query. */
  | { kind: 'refuses'; method: 'GET' | 'PUT' | 'POST'; keys?: string; query?: string };

export interface LyingS3 {
  port: number;
  tell: (lie: Lie) => void;
  /** Number of falsified responses: a run in which this stays 0 proves nothing. */
  hits: () => number;
  close: () => Promise<void>;
}

/**
 * An HTTP proxy on a free loopback port in front of an S3 server. Without a lie it forwards everything unchanged;
 * signatures stay valid, since it also forwards the Host header.
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

/** Whether a lie applies to a request: to an object itself, not to a list, a part of an upload or a bucket request. */
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
