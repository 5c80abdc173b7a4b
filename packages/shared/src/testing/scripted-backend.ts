import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newJob, newStreamProbe, processorTimeHeader, streamProbesPath } from '@vision/contracts/inference';
import { readBody } from '../http/read-body.ts';
import type { CapacityReply, Job, NewJob, NewStreamProbe } from '@vision/contracts/inference';
import { KEPT_MS } from './kept-connections.ts';

/** What happens to a submit. Everything but `accept` is a fault that a real backend shows only by accident. */
export type SubmitMode =
  | 'accept'
  | 'accept_and_drop_reply'
  | 'accept_late'
  | 'accept_and_say_500'
  | 'accept_and_say_garbage'
  | 'refuse'
  | 'refuse_form'
  | 'no_capacity'
  | 'drop'
  | 'hang';

export type DetectMode = 'ok' | 'undecodable' | 'overloaded' | 'hang' | 'drop';

export interface ScriptedJob extends Job {
  request: NewJob;
  /** Fencing token of the frames. */
  attempt: number;
}

export interface ScriptedBackend {
  url: string;
  port: number;
  /** What it says about its places; undefined for a backend that does not tell. */
  capacity: (() => CapacityReply) | undefined;
  /** Decides per submit; the default accepts. */
  onSubmit: (job: NewJob) => SubmitMode;
  onDetect: () => DetectMode;
  onStop: (jobId: string) => 'answer' | 'hang';
  /** Answers a request for the newest frame; undefined for a backend without this operation. */
  onSnapshot: ((jobId: string) => { status: number; body: unknown }) | undefined;
  /** The answer of its health check. */
  isWell: boolean;
  /** Whether its answers name the attempt of a job. */
  tellsAttempt: boolean;
  /** Called once for each job that starts to run. */
  onStarted: (job: ScriptedJob) => void;
  lateMs: number;
  /** Answers a stream probe; undefined for a backend that has none. */
  onProbe: ((probe: NewStreamProbe) => { status: number; body: unknown }) | undefined;
  /** Processor time that it says a probe took. */
  probeMs: number;
  readonly jobs: Map<string, ScriptedJob>;
  /** Requests that asked about jobs. */
  questions: number;
  /** Every submit that arrived, in order, with any outcome. */
  readonly submits: { jobId: string; mode: SubmitMode }[];
  /** Ends a job the way the backend would by itself. */
  end: (jobId: string, status: 'succeeded' | 'failed' | 'stopped', error?: string) => void;
  /** A restored backup that knows nothing. */
  forgetAll: () => void;
  close: () => Promise<void>;
}

const objects = [
  { label: 'person', score: 0.91, bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.2, height: 0.4 } },
];

/** Speaks the inference contract over a real socket, and fails on demand. */
export async function startScriptedBackend(port = 0): Promise<ScriptedBackend> {
  const server = createServer({ keepAliveTimeout: KEPT_MS }, (req, res) => {
    answer(backend, req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  const backend: ScriptedBackend = {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    capacity: undefined,
    onSubmit: () => 'accept',
    onDetect: () => 'ok',
    onStop: () => 'answer',
    onSnapshot: undefined,
    isWell: true,
    tellsAttempt: false,
    onStarted: () => undefined,
    lateMs: 60_000,
    onProbe: undefined,
    probeMs: 0,
    jobs: new Map(),
    questions: 0,
    submits: [],
    end: (jobId, status, error) => {
      const job = backend.jobs.get(jobId);
      if (job && !isOver(job)) Object.assign(job, { status }, error === undefined ? {} : { error });
    },
    forgetAll: () => backend.jobs.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return backend;
}

async function answer(backend: ScriptedBackend, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const url = new URL(req.url ?? '/', backend.url);
  const body = await readBody(req, Infinity);
  const [, , , jobId = '', action] = url.pathname.split('/');
  if (url.pathname === '/v1/health') json(res, backend.isWell ? 200 : 503, { status: 'ok', scenes: [] });
  else if (url.pathname === '/v1/capacity') json(res, backend.capacity ? 200 : 404, backend.capacity?.() ?? {});
  else if (url.pathname === '/v1/active-jobs') listActive(backend, url.searchParams, res);
  else if (url.pathname === '/v1/detect') detect(backend, res);
  else if (url.pathname === streamProbesPath) probe(backend, body, res);
  else if (url.pathname === '/v1/jobs' && req.method === 'POST') submit(backend, body, res);
  else if (url.pathname === '/v1/jobs') {
    backend.questions += 1;
    json(res, 200, { jobs: known(backend, url.searchParams.get('ids') ?? '') });
  } else if (action === 'stop') stop(backend, jobId, res);
  else if (action === 'snapshot') {
    const told = backend.onSnapshot?.(jobId) ?? { status: 404, body: 'Cannot POST' };
    json(res, told.status, told.body);
  } else {
    const job = backend.jobs.get(jobId);
    json(res, job ? 200 : 404, job ? shown(backend, job) : {});
  }
}

function probe(backend: ScriptedBackend, body: Buffer, res: ServerResponse): void {
  const reply = backend.onProbe?.(newStreamProbe.parse(JSON.parse(body.toString('utf8'))));
  if (reply) res.setHeader(processorTimeHeader, String(backend.probeMs));
  json(res, reply?.status ?? 404, reply?.body ?? {});
}

function listActive(backend: ScriptedBackend, query: URLSearchParams, res: ServerResponse): void {
  const [after, limit] = [query.get('after') ?? '', Number(query.get('limit'))];
  const ids = [...backend.jobs.keys()].filter((id) => id > after).toSorted();
  const jobs = ids.flatMap((id) => {
    const job = backend.jobs.get(id);
    return job && !isOver(job) ? [shown(backend, job)] : [];
  });
  const page = jobs.slice(0, limit);
  json(res, 200, { jobs: page, next_cursor: jobs.length > limit ? page.at(-1)?.job_id : '' });
}

function submit(backend: ScriptedBackend, body: Buffer, res: ServerResponse): void {
  const parsed = newJob.safeParse(JSON.parse(body.toString('utf8')));
  if (!parsed.success) {
    json(res, 422, { reason: 'request_invalid' });
    return;
  }
  const mode = backend.onSubmit(parsed.data);
  backend.submits.push({ jobId: parsed.data.job_id, mode });
  const isNew = !backend.jobs.has(parsed.data.job_id);
  if (mode.startsWith('accept')) accept(backend, parsed.data);
  const job = backend.jobs.get(parsed.data.job_id);
  switch (mode) {
    case 'accept':
      json(res, isNew ? 201 : 200, job ? shown(backend, job) : {});
      return;
    case 'accept_late':
      setTimeout(() => json(res, 201, job ? shown(backend, job) : {}), backend.lateMs).unref();
      return;
    case 'accept_and_say_500':
      json(res, 500, { error: 'internal' });
      return;
    case 'accept_and_say_garbage':
      res.writeHead(201, { 'content-type': 'application/json' }).end('{"job_id":');
      return;
    case 'refuse':
      res.setHeader(processorTimeHeader, '1700');
      json(res, 422, { reason: 'source_unreadable' });
      return;
    case 'refuse_form':
      json(res, 422, { reason: 'request_invalid' });
      return;
    case 'no_capacity':
      json(res, 503, { reason: 'no_capacity' });
      return;
    case 'accept_and_drop_reply':
    case 'drop':
      res.destroy();
      return;
    case 'hang':
      return;
  }
}

function accept(backend: ScriptedBackend, request: NewJob): void {
  if (backend.jobs.has(request.job_id)) return;
  const job: ScriptedJob = { job_id: request.job_id, status: 'running', frames_published: 0, request, attempt: 1 };
  backend.jobs.set(job.job_id, job);
  backend.onStarted(job);
}

function stop(backend: ScriptedBackend, jobId: string, res: ServerResponse): void {
  if (backend.onStop(jobId) === 'hang') return;
  const job = backend.jobs.get(jobId);
  if (!job) {
    const request: NewJob = {
      job_id: jobId,
      scene_code: '',
      lower_bound: 0,
      source: { kind: 'object', bucket: '-', key: '-' },
    };
    const unknown: ScriptedJob = { job_id: jobId, status: 'stopped', frames_published: 0, request, attempt: 1 };
    backend.jobs.set(jobId, unknown);
    json(res, 200, shown(backend, unknown));
    return;
  }
  const wasOver = isOver(job);
  backend.end(jobId, 'stopped');
  json(res, wasOver ? 200 : 202, shown(backend, job));
}

function detect(backend: ScriptedBackend, res: ServerResponse): void {
  const mode = backend.onDetect();
  if (mode === 'ok') json(res, 200, { image: { width: 768, height: 576 }, objects });
  else if (mode === 'undecodable') json(res, 422, { reason: 'image_undecodable' });
  else if (mode === 'overloaded') json(res, 503, { reason: 'overloaded' });
  else if (mode === 'drop') res.destroy();
}

function known(backend: ScriptedBackend, ids: string): Job[] {
  return ids.split(',').flatMap((id) => {
    const job = backend.jobs.get(id);
    return job ? [shown(backend, job)] : [];
  });
}

function shown(backend: ScriptedBackend, { job_id, status, frames_published, attempt, error }: ScriptedJob): Job {
  return {
    job_id,
    status,
    frames_published,
    ...(backend.tellsAttempt ? { attempt } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

const isOver = (job: ScriptedJob) => ['stopped', 'succeeded', 'failed'].includes(job.status);

function json(res: ServerResponse, status: number, body: unknown): void {
  if (!res.destroyed) res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
