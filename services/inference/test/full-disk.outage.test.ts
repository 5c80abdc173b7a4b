import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { reportWorker } from '../src/db/workers.ts';
import { submitJob } from '../src/use-cases/submit-job.ts';
import type { Deps } from '../src/use-cases/deps.ts';
import { countingStore } from './support/counting-store.ts';
import type { CountingStore } from './support/counting-store.ts';
import { jobWorld } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';
import { noMount, smallDisk } from './support/small-disk.ts';
import type { SmallDisk } from './support/small-disk.ts';

if (noMount !== undefined)
  process.stderr.write(`8 tests skipped: this process may not mount a file system: ${noMount}\n`);
const onDisk = noMount === undefined ? test : test.skip;

const MEBIBYTE = 1024 * 1024;
// Three videos of FILE_MAX_BYTES, and little to fill.
const DISK_MEBIBYTES = 16;
const metrics = testMetrics();
let world: JobWorld;
let accepting: { deps: Deps; close: () => Promise<void> };
let store: CountingStore;
let disk: SmallDisk | undefined;
const services: JobService[] = [];

beforeAll(async () => {
  world = await jobWorld();
  // A replica with space, which accepts jobs and runs none.
  accepting = await world.jobDeps();
});
beforeEach(async () => {
  store = await countingStore();
  disk = noMount === undefined ? smallDisk(DISK_MEBIBYTES) : undefined;
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()));
  await store.close();
  disk?.remove();
});
afterAll(async () => {
  await accepting.close();
  await world.close();
});

async function start(env: Record<string, string> = {}): Promise<JobService> {
  const own = { WORK_DIR: disk?.directory ?? '', S3_ENDPOINT: store.endpoint, FILE_MAX_BYTES: String(5 * MEBIBYTE) };
  const service = await world.start({ ...own, SHORTAGE_RETRY_MS: '10', FILE_LOOK_MS: '60000', ...env });
  services.push(service);
  return service;
}

const newJob = async () => ({
  job_id: randomUUID(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source: await world.upload(street),
});

/** A job that waits for a worker. */
async function acceptedJob(): Promise<string> {
  const { deps } = accepting;
  const job = await newJob();
  // Behind the upload: who is not seen for a while has no places.
  await reportWorker(deps.db, { id: randomUUID(), capacity: 50, livePlaces: 10, seenMs: 20_000, leaseMs: 600_000 });
  expect(await submitJob(deps, job)).toMatchObject({ kind: 'created' });
  return job.job_id;
}

const copies = async () =>
  (await readdir(disk?.directory ?? '', { recursive: true })).filter((name) => name.endsWith('.video'));
const lines = (text: string) =>
  world.log.filter((line) => line.includes(text)).map((line) => JSON.parse(line) as Record<string, unknown>);
const shortAttempts = (jobId: string) =>
  lines('no space or process for a job')
    .filter(({ task_id: id }) => id === jobId)
    .map(({ attempt, reason, count }) => ({ attempt, reason, count }));
const shortages = async () =>
  (await metrics.sumOf('vision.inference.shortages', { at: 'attempt', reason: 'no_local_space' })) ?? 0;

onDisk(
  'a disk that fills during each download ends three attempts after four downloads each, and the job',
  async () => {
    const jobId = await acceptedJob();
    // There is space for as long as one looks, so it is the file system that refuses to take the file.
    store.beforeStat(() => disk?.clear());
    store.beforeDownload(() => disk?.fill());
    const service = await start();
    const job = await service.ended(jobId);
    expect(job).toMatchObject({ status: 'failed', error: 'no_local_space', attempt: 3, frames_published: 0 });
    expect(store.downloads()).toBe(12);
    await until(async () => (await copies()).length === 0);
    expect(shortAttempts(jobId)).toEqual([1, 2, 3].map((n) => ({ attempt: n, reason: 'no_local_space', count: n })));
  },
);

onDisk('a full disk is seen before a download, so none begins', async () => {
  const before = await shortages();
  const jobId = await acceptedJob();
  disk?.fill();
  const service = await start();
  expect(await service.ended(jobId)).toMatchObject({ status: 'failed', error: 'no_local_space' });
  expect(store.downloads()).toBe(0);
  expect((await shortages()) - before).toBe(3);
});

onDisk('a job whose space comes back continues in the same attempt', async () => {
  const jobId = await acceptedJob();
  store.beforeStat(() => disk?.clear());
  store.beforeDownload(() => {
    if (store.downloads() === 1) disk?.fill();
  });
  const service = await start();
  const job = await service.ended(jobId);
  expect(job).toMatchObject({ status: 'succeeded', attempt: 1, frames_published: 60 });
  expect(store.downloads()).toBe(2);
});

onDisk('another worker with space takes over the job', async () => {
  const jobId = await acceptedJob();
  disk?.fill();
  // Three attempts with these pauses take longer than one needs to see the first end.
  const full = await start({ SHORTAGE_RETRY_MS: '300' });
  await until(() => shortAttempts(jobId).length > 0);
  await full.close();
  services.splice(0);
  const roomy = await start({ WORK_DIR: `${world.workDir}/roomy` });
  const job = await roomy.ended(jobId);
  expect(job).toMatchObject({ status: 'succeeded', frames_published: 60 });
  expect(job.attempt).toBeGreaterThan(1);
});

onDisk('a submit whose file does not fit is refused for now, and says why', async () => {
  const service = await start();
  disk?.fill();
  const refused = await service.submit(await newJob());
  expect(refused).toMatchObject({ status: 503, body: { reason: 'no_local_space' } });
  disk?.clear();
  const job = await newJob();
  expect(await service.submit(job)).toMatchObject({ status: 201 });
  expect(await service.ended(job.job_id)).toMatchObject({ status: 'succeeded' });
});

onDisk('a worker takes as many files as the disk has space for, one at least, and says so', async () => {
  await start();
  expect(lines('file slots lowered').at(-1)).toMatchObject({ file_slots: 3, file_max_bytes: 5 * MEBIBYTE });
  expect(await metrics.sumOf('vision.inference.work_dir', { kind: 'limit' })).toBeGreaterThan(15 * MEBIBYTE);
  await start({ WORK_DIR_MAX_BYTES: String(MEBIBYTE) });
  expect(lines('one file slot is left').at(-1)).toMatchObject({ file_slots: 1, limit_bytes: MEBIBYTE });
});

onDisk('a file larger than the whole limit is never downloaded', async () => {
  const jobId = await acceptedJob();
  const service = await start({ WORK_DIR_MAX_BYTES: '1000' });
  expect(await service.ended(jobId)).toMatchObject({ status: 'failed', error: 'no_local_space' });
  expect(store.downloads()).toBe(0);
});

onDisk('two jobs share space for one copy in turn, and both succeed', async () => {
  const jobs = await Promise.all([acceptedJob(), acceptedJob()]);
  const { size } = await stat(street);
  const limit = { WORK_DIR_MAX_BYTES: String(Math.round(size * 1.5)), FILE_MAX_BYTES: String(size) };
  const service = await start(limit);
  for (const jobId of jobs) expect(await service.ended(jobId)).toMatchObject({ status: 'succeeded', attempt: 1 });
  expect(store.downloads()).toBe(2);
});
