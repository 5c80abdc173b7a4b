import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { giveUpFeature } from '@vision/contracts/inference';
import type { CapacityReply } from '@vision/contracts/inference';
import type { SourceChangedData } from '@vision/contracts/job-events';
import { topics } from '@vision/contracts/topics';
import { until } from '@vision/shared/testing/until';
import { jobWorld } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';

let world: JobWorld;
let inference: JobService;
let reports: SourceChangedData[];
let stopReports: () => Promise<void>;
const cameras: ReturnType<typeof closable>[] = [];

/** One slot, and seconds in place of minutes. */
const quick = {
  JOBS_PER_WORKER: '1',
  LIVE_JOBS_PER_WORKER: '1',
  SOURCE_PARK_MS: '1000',
  SOURCE_REOPEN_MS: '200',
  SOURCE_BACKOFF_MIN_MS: '50',
  SOURCE_BACKOFF_MAX_MS: '100',
};

/** Longer than a busy machine takes for a frame or to begin an attempt, so a longer outage is no such delay. */
const longAway = { SOURCE_PARK_MS: '5000' };

beforeAll(async () => {
  world = await jobWorld();
  const { kafka } = world;
  reports = [];
  const consumer = kafka.client.kafka.consumer({ groupId: randomUUID(), maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: [kafka.client.nameOf(topics.jobs)], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      reports.push(JSON.parse(message.value?.toString() ?? '') as SourceChangedData);
    },
  });
  stopReports = () => consumer.disconnect();
});
beforeEach(async () => {
  inference = await world.start(quick);
});
afterEach(async () => {
  const { body } = await inference.get('/v1/active-jobs');
  for (const { job_id: id } of body.jobs ?? []) await inference.stop(id);
  for (const { job_id: id } of body.jobs ?? []) await inference.ended(id);
  await inference.close();
  while (cameras.length > 0) cameras.pop()?.close();
});
afterAll(async () => {
  await stopReports();
  await world.close();
});

/** A server with the child processes that feed its connections. */
function closable(server: ReturnType<typeof createServer>, children: Set<ChildProcess>) {
  return {
    cut: () => children.forEach((child) => child.kill('SIGKILL')),
    close: () => {
      children.forEach((child) => child.kill('SIGKILL'));
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A camera over HTTP that can be switched off: then it serves no stream at its path. */
async function startCamera() {
  const children = new Set<ChildProcess>();
  let [isOff, connections] = [false, 0];
  const server = createServer((_req, res) => {
    connections += 1;
    if (isOff) return void res.writeHead(404).end();
    const output = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '1', '-f', 'mpegts'];
    const input = ['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=10'];
    const child = spawn('ffmpeg', [...input, ...output, 'pipe:1'], { stdio: ['ignore', 'pipe', 'ignore'] });
    children.add(child);
    child.once('close', () => children.delete(child));
    res.once('close', () => child.kill('SIGKILL'));
    res.writeHead(200, { 'content-type': 'video/mp2t' });
    child.stdout.pipe(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const control = closable(server, children);
  cameras.push(control);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live.ts`,
    connections: () => connections,
    switchOff: () => {
      isOff = true;
      control.cut();
    },
    switchOn: () => void (isOff = false),
  };
}

/** Cameras that accept connections and send no data. */
async function startDark() {
  const asked: string[] = [];
  const server = createServer(({ url = '' }) => void asked.push(url));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cameras.push(closable(server, new Set()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connectionsTo: (path: string) => asked.filter((url) => url === path).length,
  };
}

const jobFor = (url: string, more: object = {}) => ({
  job_id: randomUUID(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source: { kind: 'stream', url, pinned_address: '127.0.0.1' },
  ...more,
});
const framesOf = (jobId: string) => world.messages(jobId).filter(({ type }) => type === 'vision.frame.v1');
const endOf = (jobId: string) => until(() => world.messages(jobId).find(({ type }) => type === 'vision.job.ended.v1'));
const capacity = async () => (await inference.get('/v1/capacity')).body as unknown as CapacityReply;
const freeSlots = async () => (await capacity()).free.stream;
const newestReport = (jobId: string) => reports.findLast(({ job_id: id }) => id === jobId);

/** Log lines about times without frames. */
const absencesOf = (jobId: string) =>
  world.log.filter((line) => line.includes('slot released') && line.includes(jobId));

/** A job whose camera sent frames and has been unavailable for so long that its slot is free. */
async function awayJob(more: object = { give_up_after_s: 3600 }) {
  const camera = await startCamera();
  const job = jobFor(camera.url, more);
  expect((await inference.submit(job)).status).toBe(201);
  await until(() => framesOf(job.job_id).length > 2);
  expect(await freeSlots()).toBe(0);
  camera.switchOff();
  await until(async () => (await freeSlots()) === 1);
  return { camera, job, jobId: job.job_id };
}
/** Lets an hour pass for a parked job; first waits for the end of a connection attempt. */
const afterAnHour = (jobId: string) =>
  until(async () => {
    const hourAgo = world.db.raw(`away_since - interval '1 hour'`);
    return (await parkedRow(jobId).update({ away_since: hourAgo })) === 1;
  });

/** The row of the job while it is parked. */
const parkedRow = (jobId: string) => world.db('jobs').where({ job_id: jobId }).whereNotNull('parked_until');
const heldByAnother = () => ({
  claim: world.db.raw('gen_random_uuid()'),
  claimed_at: world.db.fn.now(),
  lease_until: world.db.raw(`now() + interval '10 minutes'`),
});

test('a stream that is unavailable for long has no slot, reports it, and continues when its camera is back', async () => {
  await inference.close();
  inference = await world.start({ ...quick, ...longAway });
  const { camera, jobId } = await awayJob();
  const lastFrameMs = framesOf(jobId).at(-1)?.data.frame_time_ms ?? 0;
  expect(await inference.read(jobId)).toMatchObject({ status: 'running' });
  // Before the first refused connection, the service knows only that the stream ended.
  const isRefused = ({ job_id: id, state, reason }: SourceChangedData) =>
    id === jobId && state === 'waiting' && reason === 'not_found';
  const report = await until(() => reports.find(isRefused));
  const awaySince = report.away_since_ms ?? 0;
  expect(Math.abs(awaySince - lastFrameMs)).toBeLessThan(4000);
  expect(report).toMatchObject({ since_ms: awaySince, gives_up_at_ms: awaySince + 3_600_000 });
  // The worker reconnects repeatedly, and the outage still begins at the same frame.
  const connections = camera.connections();
  await until(() => camera.connections() > connections + 2);
  const later = await until(() => reports.findLast((one) => one.job_id === jobId && one.attempt > report.attempt));
  expect(later.state).toBe('waiting');
  expect(Math.abs((later.away_since_ms ?? 0) - awaySince)).toBeLessThan(4000);
  const before = framesOf(jobId).length;
  camera.switchOn();
  await until(() => framesOf(jobId).length > before + 2);
  expect(await freeSlots()).toBe(0);
  const after = await until(() => (newestReport(jobId)?.state === 'streaming' ? newestReport(jobId) : undefined));
  expect(after).not.toHaveProperty('gives_up_at_ms');
  // Each outage is logged once, reopenings are not.
  expect(absencesOf(jobId)).toHaveLength(1);
  camera.switchOff();
  await until(async () => (await freeSlots()) === 1);
  await until(() => absencesOf(jobId).length === 2);
  const numbers = framesOf(jobId).map(({ data }) => data.seq);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
});

test('its slot goes to another stream, and it waits for one like any other', async () => {
  const { camera, jobId } = await awayJob();
  const neighbour = await startCamera();
  const other = jobFor(neighbour.url);
  await until(async () => (await inference.submit(other)).status < 300);
  await until(() => framesOf(other.job_id).length > 2);
  camera.switchOn();
  const [before, connections] = [framesOf(jobId).length, camera.connections()];
  const neighbours = framesOf(other.job_id).length;
  await until(() => framesOf(other.job_id).length > neighbours + 15);
  expect([framesOf(jobId).length, camera.connections()]).toEqual([before, connections]);
  expect(await inference.read(jobId)).toMatchObject({ status: 'running' });
  await inference.stop(other.job_id);
  await until(() => framesOf(jobId).length > before + 2);
});

test('a job that was accepted comes before it', async () => {
  await inference.close();
  inference = await world.start({ ...quick, SOURCE_REOPEN_MS: '600000' });
  const { camera, jobId } = await awayJob();
  const neighbour = await startCamera();
  const other = jobFor(neighbour.url);
  await until(async () => (await inference.submit(other)).status < 300);
  await until(() => framesOf(other.job_id).length > 2);
  await inference.close();
  // Both are due, and the parked job has been for longer.
  const aMinuteAgo = world.db.raw(`now() - interval '1 minute'`);
  expect(await parkedRow(jobId).update({ parked_until: aMinuteAgo, lease_until: aMinuteAgo })).toBe(1);
  const [before, connections] = [framesOf(other.job_id).length, camera.connections()];
  inference = await world.start(quick);
  await until(() => framesOf(other.job_id).length > before + 2);
  expect(camera.connections()).toBe(connections);
});

test('many unavailable streams leave slots free', async () => {
  await inference.close();
  const places = { JOBS_PER_WORKER: '4', LIVE_JOBS_PER_WORKER: '4' };
  inference = await world.start({ ...quick, ...places, SOURCE_OPEN_MS: '300' });
  const { url, connectionsTo } = await startDark();
  const jobs = Array.from({ length: 4 }, (_, at) => jobFor(`${url}/${at}`, { give_up_after_s: 3600 }));
  for (const job of jobs) expect((await inference.submit(job)).status).toBe(201);
  const ids = jobs.map(({ job_id: id }) => id);
  const isParked = () => world.db('jobs').whereIn('job_id', ids).whereNotNull('parked_attempt').select('job_id');
  await until(async () => (await isParked()).length === 4);
  const counts = () => jobs.map((_, at) => connectionsTo(`/${at}`));
  const before = counts();
  let least = 4;
  await until(async () => {
    least = Math.min(least, await freeSlots());
    return counts().every((count, at) => count > (before[at] ?? 0) + 2);
  });
  expect(least).toBeGreaterThanOrEqual(2);
});

test('fails when its time has expired, also when no slot is free', async () => {
  const { jobId } = await awayJob();
  const neighbour = await startCamera();
  const other = jobFor(neighbour.url);
  await until(async () => (await inference.submit(other)).status < 300);
  await until(() => framesOf(other.job_id).length > 2);
  await afterAnHour(jobId);
  expect(await inference.ended(jobId)).toMatchObject({ status: 'failed', error: 'source_lost' });
  expect((await endOf(jobId)).data).toMatchObject({
    status: 'failed',
    error: 'source_lost',
    frames_published: framesOf(jobId).length,
  });
  expect(await inference.read(other.job_id)).toMatchObject({ status: 'running' });
});

test('is stopped while it holds no slot', async () => {
  const { jobId } = await awayJob();
  await inference.stop(jobId);
  expect(await inference.ended(jobId)).toMatchObject({ status: 'stopped' });
  expect((await endOf(jobId)).data.status).toBe('stopped');
});

test('is unavailable since the same frame for the worker that takes over', async () => {
  await inference.close();
  inference = await world.start({ ...quick, ...longAway });
  const { camera, jobId } = await awayJob();
  const isAway = ({ job_id: id, away_since_ms: since }: SourceChangedData) => id === jobId && since !== undefined;
  // Its slot is free before the reports of the outage have arrived.
  const since = (await until(() => reports.findLast(isAway))).away_since_ms ?? 0;
  await inference.close();
  inference = await world.start({ ...quick, ...longAway });
  const attempt = newestReport(jobId)?.attempt ?? 0;
  const report = await until(() => reports.findLast((one) => isAway(one) && one.attempt > attempt));
  expect(Math.abs((report.away_since_ms ?? 0) - since)).toBeLessThan(4000);
  await afterAnHour(jobId);
  expect(await inference.ended(jobId)).toMatchObject({ status: 'failed', error: 'source_lost' });
  camera.switchOn();
});

test('is connected to after a worker of the previous release held it, which clears no time', async () => {
  const { camera, jobId } = await awayJob();
  const held = { attempt: world.db.raw('attempt + 1'), ...heldByAnother() };
  await until(async () => (await parkedRow(jobId).update(held)) === 1);
  camera.switchOn();
  const before = framesOf(jobId).length;
  const hourAgo = world.db.raw(`away_since - interval '1 hour'`);
  await world.db('jobs').where({ job_id: jobId }).update({ away_since: hourAgo, lease_until: world.db.fn.now() });
  await until(() => framesOf(jobId).length > before + 2);
});

test('a worker that takes it over from a reopening connects to it, however long it was unavailable', async () => {
  const { camera, jobId } = await awayJob();
  const hourAgo = world.db.raw(`away_since - interval '1 hour'`);
  const reopened = { parked_until: null, away_since: hourAgo, ...heldByAnother() };
  await until(async () => (await parkedRow(jobId).update(reopened)) === 1);
  camera.switchOn();
  const before = framesOf(jobId).length;
  // That worker crashes before Kafka has acknowledged a frame.
  await world.db('jobs').where({ job_id: jobId }).update({ lease_until: world.db.fn.now() });
  await until(() => framesOf(jobId).length > before + 2);
});

test('a job without a time of its own keeps its slot until it fails', async () => {
  await inference.close();
  inference = await world.start({ ...quick, SOURCE_GIVE_UP_MS: '1500' });
  const camera = await startCamera();
  const job = jobFor(camera.url);
  await inference.submit(job);
  await until(() => framesOf(job.job_id).length > 2);
  camera.switchOff();
  expect(await inference.ended(job.job_id)).toMatchObject({ status: 'failed', error: 'source_lost', attempt: 1 });
});

test('its time is a feature that a client finds among those of the backend', async () => {
  expect((await capacity()).features).toContain(giveUpFeature);
});

test('its time is part of the content of a job, has bounds, and is for streams only', async () => {
  const { url } = await startCamera();
  for (const seconds of [59, 86_401, 60.5, '60', null])
    expect((await inference.submit(jobFor(url, { give_up_after_s: seconds }))).status).toBe(422);
  const job = jobFor(url, { give_up_after_s: 600 });
  expect((await inference.submit(job)).status).toBe(201);
  expect((await inference.submit(job)).status).toBe(200);
  expect((await inference.submit({ ...job, give_up_after_s: 601 })).status).toBe(409);
  const file = { kind: 'object', bucket: world.bucket, key: 'videos/x' };
  expect((await inference.submit({ ...jobFor(url), source: file, give_up_after_s: 600 })).status).toBe(422);
});
