import { httpUrl, millis, tokens } from '@vision/shared/config';
import { listBackendDifferences } from '@vision/contracts/audit';
import type { Difference } from '@vision/contracts/audit';
import {
  activeJobs,
  activeJobsPath,
  capacityReply,
  healthReply,
  job,
  jobList,
  jobSnapshot,
  refusal,
} from '@vision/contracts/inference';
import type { ActiveJobs, CapacityReply, HealthReply, Job, JobSnapshot, NewJob } from '@vision/contracts/inference';
import { pathTo } from '@vision/contracts/question';
import { fail } from '@vision/contracts/errors';
import { createBreaker } from '@vision/shared/http/breaker';
import type { Breaker, BreakerState } from '@vision/shared/http/breaker';
import { bodyAs, call } from '@vision/shared/http/call';
import type { CallReply, CallRequest } from '@vision/shared/http/call';
import type { TokenSigner } from '@vision/shared/http/service-token';
import { detect } from './inference/detect.ts';
import type { DetectInput, DetectOutcome } from './inference/detect.ts';
import { probeStream } from './inference/probe-stream.ts';
import type { ProbeInput, ProbeOutcome } from './inference/probe-stream.ts';
import { expectBody, classifyCapacity, classifyReply, unavailableOn, wordFor } from './inference/replies.ts';
import { submit } from './inference/submit.ts';
import type { SubmitOutcome } from './inference/submit.ts';

/** Constants of the services that call the inference backend. */
export const inferenceClientConstants = {
  /** Time that the circuit breaker stays open before it allows a trial call. */
  BREAKER_RESET_MS: 5_000,
};

/** Settings of the services that call the inference backend. */
export const inferenceClientConfig = {
  INFERENCE_URL: httpUrl()
    .optional()
    .describe('Address of the inference backend; if absent, create requests are answered with OP-SYS-UNAVAILABLE'),
  INFERENCE_TOKEN: tokens(1)
    .transform(([first]) => first)
    .optional()
    .describe(
      'Static bearer token for a backend that requires one; of several, comma separated, the first is sent. If absent, calls carry a service token.',
    ),
  SUBMIT_TIMEOUT_MS: millis(5_000).describe(
    'Maximum time of one create request for the backend: the capacity query (at most a third of it and 2 s) and the submission; below 9 s, the lease of the request',
  ),
  DETECT_TIMEOUT_MS: millis(20_000).describe('Timeout of the detection of one image'),
};

export interface InferenceClient {
  /** @param leftMs what earlier questions for this job left of the limit of a submission */
  submitJob: (job: NewJob, leftMs?: number) => Promise<SubmitOutcome>;
  /**
   * Jobs that could begin now; undefined for a backend that does not tell. Asked behind the breaker of submissions, for
   * which only silence counts. @throws AppError of kind `unavailable`.
   */
  readCapacity: (timeoutMs: number) => Promise<CapacityReply | undefined>;
  /** Up to 100 ids; jobs that the backend does not have are left out. @throws AppError of kind `unavailable`. */
  readJobs: (ids: readonly string[]) => Promise<Job[]>;
  /**
   * Jobs that have not ended, including those without a task; undefined for a backend that does not list them.
   * @throws AppError of kind `unavailable`.
   */
  readActiveJobs: (page: { after?: string | undefined; limit: number }) => Promise<ActiveJobs | undefined>;
  /**
   * Asks for a stop; resolves once the backend acknowledged it. `wasLive`: the backend had the job and it had not
   * ended. Stops of unknown ids are acknowledged too, with `wasLive` false. @throws AppError of kind `unavailable`.
   */
  stopJob: (id: string) => Promise<{ job: Job; wasLive: boolean }>;
  /**
   * The newest frame of a live job; `not_yet` when none came in time, `none` when the backend creates none for it.
   * @throws AppError of kind `unavailable`; the reason of `signal` when aborted.
   */
  readSnapshot: (id: string, signal?: AbortSignal) => Promise<JobSnapshot | 'not_yet' | 'none'>;
  /**
   * `unreadable` carries OP-TASK-REQUEST-INVALID `image_unreadable`. @throws AppError of kind `unavailable`
   * (OP-TASK-UPSTREAM-DOWN, OP-TASK-BREAKER-OPEN, OP-SYS-UNAVAILABLE) when the backend is; the
   * reason of `signal` when aborted.
   */
  detect: (input: DetectInput) => Promise<DetectOutcome>;
  /**
   * Reads a live stream for a moment; only a backend that names the feature `stream_probes` is asked.
   * @throws AppError of kind `unavailable`, OP-TASK-SCENE-UNAVAILABLE.
   */
  probeStream: (input: ProbeInput) => Promise<ProbeOutcome>;
  /**
   * What the audits of the backend found; none for a backend that has no audits.
   * @throws AppError of kind `unavailable`.
   */
  readDifferences: () => Promise<Difference[]>;
  /** @throws AppError of kind `unavailable` when the backend is not ready. */
  readHealth: () => Promise<HealthReply>;
  /**
   * @throws AppError OP-TASK-BREAKER-OPEN when work of this kind would be refused now, OP-SYS-UNAVAILABLE
   * without a backend.
   */
  assertAccepting: (operation: 'submit' | 'detect') => void;
  /** State of the breaker; while it is half-open one call may try and the others are refused. */
  breakerState: (operation: 'submit' | 'detect') => BreakerState;
  /** Every breaker with its state, for operators. */
  breakers: () => { name: string; state: BreakerState }[];
  /** Ends the timers of the breakers. */
  close: () => void;
}

/** Longest wait for an answer to a read or a stop. */
const READ_MS = 5_000;
/** The backend waits some seconds for a frame. */
const SNAPSHOT_MS = READ_MS + 3_000;

export interface InferenceClientOptions {
  baseUrl: string | undefined;
  /** Sent as it is; for backends that know nothing of our services. */
  token?: string | undefined;
  /** Signs the token that is sent when there is no static one. */
  signer?: TokenSigner | undefined;
  breakerResetMs: number;
  submitTimeoutMs?: number | undefined;
  detectTimeoutMs?: number | undefined;
}

/** Calls to the inference backend, each operation behind a breaker of its own. */
export function createInferenceClient(options: InferenceClientOptions): InferenceClient {
  const { submitTimeoutMs = 5_000, detectTimeoutMs = 20_000 } = options;
  const breakerFor = (operation: string) =>
    createBreaker({ upstream: 'inference', operation, resetMs: options.breakerResetMs });
  const breakers = {
    submit: breakerFor('submit'),
    read: breakerFor('read'),
    stop: breakerFor('stop'),
    detect: breakerFor('detect'),
    // Of its own, so that what a stream does to its probe keeps no other work out.
    probe: breakerFor('probe'),
  };
  const send = senderTo(options);
  const through = (breaker: Breaker, request: BackendRequest) => send({ ...request, breakerState: breaker.state() });
  const ask = (breaker: Breaker, request: BackendRequest) =>
    breaker.run(() => through(breaker, request), classifyReply);
  return {
    submitJob: (newJob, leftMs) => {
      const request = { ...submitRequest, json: newJob, timeoutMs: submitTimeoutMs, leftMs };
      return submit(breakers.submit, newJob, () => through(breakers.submit, request));
    },
    async readCapacity(timeoutMs) {
      const askOnce = () => through(breakers.submit, { ...capacityRequest, timeoutMs });
      return toCapacity(await unavailableOn(breakers.submit.run(askOnce, classifyCapacity)));
    },
    async readJobs(ids) {
      if (ids.length === 0) return [];
      const path = `/v1/jobs?ids=${ids.map(encodeURIComponent).join(',')}`;
      const request = { operation: 'read', method: 'GET', path, timeoutMs: READ_MS } as const;
      return expectBody(jobList, await unavailableOn(ask(breakers.read, request))).jobs;
    },
    readActiveJobs: (page) => readActiveJobs((request) => send({ ...request, timeoutMs: READ_MS }), page),
    async stopJob(id) {
      const path = `/v1/jobs/${encodeURIComponent(id)}/stop`;
      const request = { operation: 'stop', method: 'POST', path, timeoutMs: READ_MS } as const;
      const reply = await unavailableOn(ask(breakers.stop, request));
      return { job: expectBody(job, reply), wasLive: reply.status === 202 };
    },
    readSnapshot: (id, signal) => readSnapshot((request) => ask(breakers.read, request), id, signal),
    detect: (input) => detect(input, (request) => ask(breakers.detect, { ...request, timeoutMs: detectTimeoutMs })),
    probeStream: (input) => probeStream(input, (request) => ask(breakers.probe, request)),
    async readDifferences() {
      if (options.baseUrl === undefined) return [];
      const { path, reply } = listBackendDifferences;
      const answer = await unavailableOn(send({ operation: 'differences', method: 'GET', path, timeoutMs: READ_MS }));
      return answer.status === 404 ? [] : expectBody(reply, answer).items;
    },
    async readHealth() {
      const request = { ...healthRequest, timeoutMs: READ_MS };
      return expectBody(healthReply, await unavailableOn(send(request)));
    },
    assertAccepting(operation) {
      if (options.baseUrl === undefined) throw notConfigured();
      breakers[operation].assertAccepting();
    },
    breakerState: (operation) => breakers[operation].state(),
    breakers: () =>
      Object.entries(breakers).map(([name, breaker]) => ({ name: `inference.${name}`, state: breaker.state() })),
    close: () => Object.values(breakers).forEach((breaker) => breaker.shutdown()),
  };
}

/** A backend without the operation knows no address of this kind. */
const whyNoSnapshot = (reply: CallReply) =>
  bodyAs(refusal, reply)?.reason === 'snapshot_not_yet' ? ('not_yet' as const) : ('none' as const);

async function readSnapshot(
  ask: (request: BackendRequest) => Promise<CallReply>,
  id: string,
  signal: AbortSignal | undefined,
): Promise<JobSnapshot | 'not_yet' | 'none'> {
  const path = `/v1/jobs/${encodeURIComponent(id)}/snapshot`;
  const request = { operation: 'snapshot', method: 'POST', path, timeoutMs: SNAPSHOT_MS, signal } as const;
  const reply = await unavailableOn(ask(request), signal);
  return reply.status === 404 ? whyNoSnapshot(reply) : expectBody(jobSnapshot, reply);
}

async function readActiveJobs(
  ask: (request: Omit<BackendRequest, 'timeoutMs'>) => Promise<CallReply>,
  page: { after?: string | undefined; limit: number },
): Promise<ActiveJobs | undefined> {
  const path = pathTo(activeJobsPath, undefined, page);
  const reply = await unavailableOn(ask({ operation: 'list', method: 'GET', path }));
  return reply.status === 404 ? undefined : expectBody(activeJobs, reply);
}

type BackendRequest = Omit<CallRequest, 'upstream' | 'url' | 'dispatcher'> & { path: string };

const submitRequest = { operation: 'submit', method: 'POST', path: '/v1/jobs' } as const;
const healthRequest = { operation: 'health', method: 'GET', path: '/v1/health' } as const;
const capacityRequest = { operation: 'capacity', method: 'GET', path: '/v1/capacity' } as const;

const toCapacity = (reply: CallReply): CapacityReply | undefined =>
  reply.status === 404 ? undefined : expectBody(capacityReply, reply);

/** Subject of a call that acts for no subject in particular. */
const NO_SUBJECT = { subject: 'service' };

function senderTo({ baseUrl, token, signer }: InferenceClientOptions) {
  return async ({ path, headers, ...request }: BackendRequest): Promise<CallReply> => {
    if (baseUrl === undefined) throw notConfigured();
    const bearer = token ?? (await signer?.sign('inference', NO_SUBJECT));
    const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    return call({
      ...request,
      wordFor,
      upstream: 'inference',
      url: baseUrl + path,
      headers: { ...authorization, ...headers },
    });
  };
}

const notConfigured = () => fail.sysUnavailable('inference_not_configured');
