import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { claimJobs } from '../src/db/claim-jobs.ts';
import { reportWorker } from '../src/db/workers.ts';
import { createHold } from '../src/jobs/hold.ts';
import { workOnJob } from '../src/jobs/work-on-job.ts';
import { serveVideo, jobWorld } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';
import { startResultsProcess } from './support/results-process.ts';
import { singleSession } from './support/single-session.ts';
import { streamJob } from './support/stream-job.ts';

const metrics = testMetrics();
let world: JobWorld;
let results: Awaited<ReturnType<typeof startResultsProcess>>;
let camera: Awaited<ReturnType<typeof serveVideo>>;
const open: { close: () => unknown }[] = [];

beforeAll(async () => {
  [world, camera] = await Promise.all([jobWorld(), serveVideo(street)]);
  results = await startResultsProcess(world.kafka);
});
afterEach(async () => {
  while (open.length > 0) await open.pop()?.close();
});
afterAll(async () => {
  camera.close();
  await results.close();
  await world.close();
});

/** A worker that reaches its database through a proxy of its own. */
async function startCutOff(env: Record<string, string>): Promise<JobService & { proxy: FaultProxy }> {
  const address = new URL(world.databaseUrl);
  const proxy = await startFaultProxy({ host: address.hostname, port: Number(address.port) }, Math.random);
  address.port = String(proxy.port);
  const service = await world.start({ DATABASE_URL: address.href, ...env });
  const close = async () => {
    proxy.set({ kind: 'none' });
    await service.close();
    await proxy.close();
  };
  open.push({ close });
  return { ...service, proxy };
}

async function startWorker(env: Record<string, string>): Promise<JobService> {
  const service = await world.start(env);
  open.push(service);
  return service;
}

const framesOf = (jobId: string) => world.messages(jobId).filter(({ type }) => type === 'vision.frame.v1');
/** Frames of attempts after this one. A machine that stands still for long makes a worker lose its job by itself. */
const framesAfter = (jobId: string, attempt: number) => framesOf(jobId).filter(({ data }) => data.attempt > attempt);
const lastAttempt = (jobId: string) => framesOf(jobId).at(-1)?.data.attempt ?? 0;
const seqsOf = (frames: { data: { seq: number } }[]) => frames.map(({ data }) => data.seq);
const isLogged = (text: string, jobId: string) => world.log.some((line) => line.includes(text) && line.includes(jobId));
const ceilingOf = async (jobId: string) => {
  const row = await world.db('jobs').where({ job_id: jobId }).first<{ reserved_seq: number }>('reserved_seq');
  return row.reserved_seq;
};

/** Everything that the broker acknowledged is stored, each frame once, and no frame took the place of another. */
async function everyFrameIsStored(jobId: string): Promise<void> {
  await until(async () => {
    const acknowledged = seqsOf(framesOf(jobId));
    expect(await results.stored(jobId)).toEqual(acknowledged.toSorted((a, b) => a - b));
    return true;
  });
  expect(results.output()).not.toContain('two different frames');
}

// A busy machine may take seconds for a renewal, and for a camera to see that its viewer has gone.
const hasty = { JOB_LEASE_MS: '12000', JOB_LEASE_MARGIN_MS: '4000' };

describe.each([
  ['single frames', { SEGMENT_LINGER_MS: '0' }],
  ['segments', { SEGMENT_LINGER_MS: '500' }],
])('with %s,', (name, form) => {
  /** The results process announces that it reads segments; a test of them in which none came has shown nothing. */
  const areSegments = name === 'segments';
  const hasSegments = (jobId: string) => framesOf(jobId).some(({ ofSegment }) => ofSegment !== undefined);
  const travelledAs = (jobId: string) => expect(hasSegments(jobId)).toBe(areSegments);
  /** Before a worker has heard of the readers, its frames travel singly. */
  const hasBegun = (jobId: string, frames: number) =>
    framesOf(jobId).length >= frames && hasSegments(jobId) === areSegments;

  test('a worker cut off from the database alone has left its camera before another one comes', async () => {
    const single = await singleSession(camera.url);
    open.push(single);
    const first = await startCutOff({ ...hasty, ...form });
    const job = streamJob(single.url);
    expect((await first.submit(job)).status).toBe(201);
    await until(() => hasBegun(job.job_id, 5));
    const second = await startWorker({ ...hasty, ...form });
    first.proxy.set({ kind: 'black_hole' });
    const attempt = lastAttempt(job.job_id);
    await until(() => framesAfter(job.job_id, attempt).length >= 5);
    expect(isLogged('lease not renewed in time', job.job_id)).toBe(true);
    expect(await metrics.sumOf('vision.jobs.fenced')).toBeGreaterThan(0);
    expect(single.turnedAway()).toBe(0);
    const attempts = framesOf(job.job_id).map(({ data }) => data.attempt);
    expect(attempts).toEqual(attempts.toSorted((a, b) => a - b));
    await second.stop(job.job_id);
    await second.ended(job.job_id);
    await everyFrameIsStored(job.job_id);
    travelledAs(job.job_id);
  });

  test('after an outage of the database longer than lease and ceiling every acknowledged frame is stored once', async () => {
    const env = { ...hasty, ...form, JOB_SEQ_STEP: '4', JOB_SEQ_WAIT_MS: '500' };
    const first = await startCutOff(env);
    const job = streamJob(camera.url);
    await first.submit(job);
    await until(() => hasBegun(job.job_id, 5));
    first.proxy.set({ kind: 'refuse' });
    await until(() => isLogged('lease not renewed in time', job.job_id));
    const attempt = lastAttempt(job.job_id);
    const second = await startWorker(env);
    await until(() => framesAfter(job.job_id, attempt).length >= 5);
    first.proxy.set({ kind: 'none' });
    await until(() => framesAfter(job.job_id, attempt).length >= 10);
    const seqs = seqsOf(framesOf(job.job_id));
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    await second.stop(job.job_id);
    await second.ended(job.job_id);
    await everyFrameIsStored(job.job_id);
    travelledAs(job.job_id);
  });

  test('without a confirmed number frames are dropped and counted, and the stream goes on afterwards', async () => {
    // The lease outlasts the outage, so only the ceiling is in the way.
    const env = { ...form, JOB_LEASE_MS: '600000', JOB_SEQ_STEP: '6', JOB_SEQ_WAIT_MS: '100' };
    const worker = await startCutOff(env);
    const job = streamJob(camera.url);
    await worker.submit(job);
    await until(() => hasBegun(job.job_id, 8));
    worker.proxy.set({ kind: 'refuse' });
    await until(() => isLogged('no more frame numbers', job.job_id));
    const before = Number(await metrics.sumOf('vision.frames.dropped', { reason: 'no_number' }));
    await until(async () => Number(await metrics.sumOf('vision.frames.dropped', { reason: 'no_number' })) > before);
    const ceiling = await ceilingOf(job.job_id);
    expect(Math.max(...seqsOf(framesOf(job.job_id)))).toBeLessThan(ceiling);
    worker.proxy.set({ kind: 'none' });
    await until(() => seqsOf(framesOf(job.job_id)).some((seq) => seq >= ceiling));
    await until(async () => Number((await worker.read(job.job_id)).frames_dropped) > 0);
    await worker.stop(job.job_id);
    await worker.ended(job.job_id);
    await everyFrameIsStored(job.job_id);
    travelledAs(job.job_id);
  });
});

test('frames that wait for the broker when the lease cannot be renewed are dropped, and the health of the job says so', async () => {
  const running = await world.jobDeps();
  open.push(running);
  const { deps } = running;
  await reportWorker(deps.db, { id: randomUUID(), capacity: 10, livePlaces: 10, seenMs: 20_000, leaseMs: 15_000 });
  const silent = await world.start({ JOBS_PER_WORKER: '1' });
  open.push(silent);
  const job = streamJob(camera.url);
  await until(async () => (await silent.submit(job)).status === 201);
  const endLease = () => deps.db('jobs').where({ job_id: job.job_id }).update({ lease_until: deps.db.fn.now() });
  const taken = await until(async () => {
    await endLease();
    const claimed = await claimJobs(deps.db, { which: 'waiting', leaseMs: 600_000, limit: 100 });
    return claimed.find(({ jobId }) => jobId === job.job_id);
  });
  let isSending = false;
  const hold = createHold({ untilMs: Infinity, onExpired: () => undefined });
  const frozenBroker = {
    ...deps.producer,
    publishBatch: () => {
      isSending = true;
      return until(() => hold.isLost()).then(() => Promise.reject(new Error('connection lost')));
    },
  };
  const work = workOnJob({ ...deps, producer: frozenBroker }, taken, hold);
  await until(() => isSending);
  hold.lose();
  await work;
  await deps.drops.store();
  expect(Number((await silent.read(job.job_id)).frames_dropped)).toBeGreaterThan(0);
  await endLease();
  await silent.stop(job.job_id);
  await silent.ended(job.job_id);
});
