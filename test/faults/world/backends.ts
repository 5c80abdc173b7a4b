import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '@vision/shared/http/read-body';

/** One inference backend to its callers; behind it some jobs run for real and others as a script says. */
export interface Backends {
  url: string;
  port: number;
  /** Whether the job was given to the real workers. */
  isReal: (jobId: string) => boolean;
  close: () => Promise<void>;
}

interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** What is sent on, and to whom. */
interface Asked {
  method: string;
  path: string;
  body: Buffer;
  headers: IncomingMessage['headers'];
  /** Aborted when the caller waits no more. */
  signal: AbortSignal;
}

/** Jobs and pictures of this scene go to the real workers: its detector needs no model, so it costs little. */
export const REAL_SCENE = 'fire_smoke';

/** Sends every request on to the backend that it belongs to. What that one leaves unanswered stays unanswered. */
export async function startBackends(scripted: string, real: string): Promise<Backends> {
  const realJobs = new Set<string>();
  const scriptedJobs = new Set<string>();
  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const body = await readBody(req, Infinity);
    const left = new AbortController();
    res.once('close', () => left.abort());
    const { method = 'GET', url: path = '/', headers: given } = req;
    const asked: Asked = { method, path, body, headers: given, signal: left.signal };
    const { status, headers, body: content } = await route(asked);
    if (!res.destroyed) res.writeHead(status, { ...headers, 'content-length': content.length }).end(content);
  };
  const route = async (asked: Asked): Promise<Reply> => {
    const url = new URL(asked.path, scripted);
    const [, , , jobId = ''] = url.pathname.split('/');
    if (url.pathname === '/v1/jobs' && asked.method === 'POST') {
      const submitted = JSON.parse(asked.body.toString()) as { job_id: string; scene_code: string };
      (submitted.scene_code === REAL_SCENE ? realJobs : scriptedJobs).add(submitted.job_id);
      return send(submitted.scene_code === REAL_SCENE ? real : scripted, asked);
    }
    if (url.pathname === '/v1/jobs') return list(asked, (url.searchParams.get('ids') ?? '').split(','));
    if (url.pathname === '/v1/detect') {
      return send(url.searchParams.get('scene_code') === REAL_SCENE ? real : scripted, asked);
    }
    const isUnknown = jobId !== '' && !realJobs.has(jobId) && !scriptedJobs.has(jobId);
    // A stop that comes before its job is remembered by whoever may get the job.
    if (isUnknown && asked.method === 'POST') await send(real, asked);
    return send(realJobs.has(jobId) ? real : scripted, asked);
  };
  const list = async (asked: Asked, ids: string[]): Promise<Reply> => {
    const ask = async (base: string, wanted: string[]) =>
      wanted.length === 0 ? undefined : send(base, { ...asked, path: `/v1/jobs?ids=${wanted.join(',')}` });
    const [theirs, ours] = await Promise.all([
      ask(
        real,
        ids.filter((id) => realJobs.has(id)),
      ),
      ask(
        scripted,
        ids.filter((id) => !realJobs.has(id)),
      ),
    ]);
    if (!theirs || !ours) return theirs ?? ours ?? { status: 200, headers: {}, body: Buffer.from('{"jobs":[]}') };
    if (theirs.status !== 200) return theirs;
    const jobs = [theirs, ours].flatMap(({ body }) => (JSON.parse(body.toString()) as { jobs: unknown[] }).jobs);
    return { ...ours, body: Buffer.from(JSON.stringify({ jobs })) };
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    isReal: (jobId) => realJobs.has(jobId),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Rejects when no whole answer comes; waits as long as its caller does. */
function send(base: string, { method, path, body, headers, signal }: Asked): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { 'transfer-encoding': _chunked, ...kept } = headers;
    const own = { ...kept, 'content-length': body.length, connection: 'close' };
    const options = { method, headers: own, agent: false, signal };
    const sent = request(base + path, options, (reply) => {
      readBody(reply, Infinity).then(
        (content) =>
          resolve({ status: reply.statusCode ?? 502, headers: withoutFraming(reply.headers), body: content }),
        reject,
      );
    });
    sent.once('error', reject).end(body);
  });
}

function withoutFraming({
  'transfer-encoding': _chunked,
  connection: _connection,
  'content-length': _length,
  'keep-alive': _keep,
  ...kept
}: IncomingMessage['headers']) {
  return kept;
}
