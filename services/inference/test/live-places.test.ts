import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { removeWorker, reportWorker } from '../src/db/workers.ts';
import { jobWorld } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { tcpServer } from './support/live-servers.ts';
import { videoDirectory } from './support/videos.ts';

const run = promisify(execFile);
const path = (relative: string) => new URL(relative, import.meta.url).pathname;
const metrics = testMetrics();
let world: JobWorld;
let videos: Awaited<ReturnType<typeof videoDirectory>>;
let silent: Awaited<ReturnType<typeof tcpServer>>;
let inference: JobService | undefined;

beforeAll(async () => {
  [world, videos] = await Promise.all([jobWorld(), videoDirectory()]);
});
beforeEach(async () => {
  silent = await tcpServer(() => undefined);
});
afterEach(async () => {
  await inference?.close();
  inference = undefined;
  silent.close();
  // Each test has the places to itself.
  await world.db('workers').delete();
  await world.db('jobs').delete();
});
afterAll(async () => {
  await world.close();
  await videos.remove();
});

const HOUR_MS = '3600000';
const start = async (env: Record<string, string>) =>
  (inference = await world.start({ SOURCE_OPEN_MS: HOUR_MS, FILE_LOOK_MS: '60000', ...env }));
const jobFor = (source: unknown) => ({
  job_id: randomUUID(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source,
});
const capacityOf = async (service: JobService) => (await service.get('/v1/capacity')).body;
/** A stream that takes a connection and sends nothing. */
const stream = () =>
  jobFor({ kind: 'stream', url: `http://127.0.0.1:${silent.port}/${randomUUID()}`, pinned_address: '127.0.0.1' });
const objectsOf = (jobId: string) =>
  world
    .messages(jobId)
    .filter(({ type }) => type === 'vision.frame.v1')
    .map(({ data }) => data.objects);

test('a live stream is taken only where it can be computed, and a file waits for its turn instead', async () => {
  const service = await start({ LIVE_JOBS_PER_WORKER: '1' });
  const [first, second] = [stream(), stream()];
  await until(async () => (await service.submit(first)).status === 201);
  expect(await service.submit(second)).toEqual({ status: 503, body: { reason: 'no_capacity' } });
  const file = jobFor(await world.upload(path('../../../examples/street.mp4')));
  expect((await service.submit(file)).status).toBe(201);
  expect(await service.ended(file.job_id)).toMatchObject({ status: 'succeeded' });
  await service.stop(first.job_id);
  await service.ended(first.job_id);
  expect((await service.submit(second)).status).toBe(201);
});

test('capacity tells what is free, and files leave places for live streams', async () => {
  const service = await start({ JOBS_PER_WORKER: '5', LIVE_JOBS_PER_WORKER: '2' });
  expect(await capacityOf(service)).toMatchObject({ free: { stream: 2, object: 3 }, places: { stream: 2, object: 3 } });
  const lease = world.db.raw(`now() + interval '1 hour'`);
  const files = [1, 2, 3].map(() => ({
    job_id: randomUUID(),
    source_kind: 'object',
    status: 'running',
    lease_until: lease,
  }));
  await world.db('jobs').insert(files);
  expect(await capacityOf(service)).toMatchObject({ free: { stream: 2, object: 0 }, places: { stream: 2, object: 3 } });
  const file = jobFor(await world.upload(path('../../../examples/street.mp4')));
  expect(await service.submit(file)).toEqual({ status: 503, body: { reason: 'no_capacity' } });
  expect((await service.submit(stream())).status).toBe(201);
  expect(await capacityOf(service)).toMatchObject({ free: { stream: 1, object: 0 } });
});

test('a worker of an earlier release, which tells nothing of kinds, takes either kind into all of its places', async () => {
  const service = await start({ JOBS_PER_WORKER: '5', LIVE_JOBS_PER_WORKER: '2' });
  await world.db('workers').insert({ worker_id: randomUUID(), capacity: 4, seen_at: world.db.fn.now() });
  const both = { stream: 2 + 4, object: 3 + 4 };
  expect(await capacityOf(service)).toMatchObject({ free: both, places: both });
});

test('without a setting there are places for as many streams as this machine computes', async () => {
  await start({ LIVE_JOBS_PER_WORKER: '0' });
  expect(await metrics.sumOf('vision.jobs.live_cost')).toBeGreaterThan(0.06);
  const places = await metrics.sumOf('vision.jobs.live_places');
  expect(places).toBeGreaterThanOrEqual(1);
  expect(places).toBeLessThanOrEqual(16);
});

test('a stream whose worker is gone is taken up even where there is no room for it', async () => {
  const service = await start({ LIVE_JOBS_PER_WORKER: '1' });
  const [first, second] = [stream(), stream()];
  await until(async () => (await service.submit(first)).status === 201);
  const other = randomUUID();
  await reportWorker(world.db, { id: other, capacity: 1, livePlaces: 1, seenMs: 20_000, leaseMs: 15_000 });
  expect((await service.submit(second)).status).toBe(201);
  await removeWorker(world.db, other);
  await until(async () => (await service.read(second.job_id)).status === 'running');
});

test('frames of a still scene repeat their objects and tracks, and a counter says how many did', async () => {
  const registry = JSON.parse(await readFile(path('../../../config/scenes.json'), 'utf8')) as {
    scenes: Record<string, unknown>[];
  };
  for (const scene of registry.scenes) scene['still'] = { longest_ms: 3000 };
  const scenesFile = join(videos.directory, 'scenes.json');
  await writeFile(scenesFile, JSON.stringify(registry));
  const picture = ['-loop', '1', '-framerate', '10', '-t', '6', '-i', path('../../../examples/street.jpg')];
  const video = join(videos.directory, 'still.mp4');
  await run('ffmpeg', ['-v', 'error', '-nostdin', ...picture, '-pix_fmt', 'yuv420p', video]);

  // A second attempt would look anew.
  const service = await start({ SCENES_FILE: scenesFile, JOB_LEASE_MS: '600000' });
  const job = jobFor(await world.upload(video));
  await until(async () => (await service.submit(job)).status === 201);
  await service.ended(job.job_id);
  await until(() => objectsOf(job.job_id).length === 30);
  const objects = objectsOf(job.job_id);
  expect(objects[0]?.length).toBeGreaterThan(3);
  // Looked at every three seconds; in between a frame is the one before, object by object.
  expect(objects.slice(1, 15)).toEqual(Array(14).fill(objects[0]));
  const tracks = objects.map((found) => found.map(({ track_id: id }) => id).toSorted());
  expect(tracks[29]).toEqual(tracks[0]);
  expect(await metrics.sumOf('vision.frames.repeated')).toBe(28);
});
