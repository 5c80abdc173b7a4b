import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { serveVideo, jobWorld } from './support/job-service.ts';
import type { JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';

// No lease ends while a test looks; those of killed workers are ended by their rows.
const lease = { JOB_LEASE_MS: '600000', JOB_LEASE_MARGIN_MS: '1000' };
let world: JobWorld;
let camera: Awaited<ReturnType<typeof serveVideo>>;
const open: { close: () => unknown }[] = [];

beforeAll(async () => {
  [world, camera] = await Promise.all([jobWorld(), serveVideo(street)]);
});
afterEach(async () => {
  while (open.length > 0) await open.pop()?.close();
  await world.db('workers').delete();
  await world.db('jobs').delete();
});
afterAll(async () => {
  camera.close();
  await world.close();
});

const newJob = () => ({
  job_id: randomUUID(),
  scene_code: 'person_vehicle',
  lower_bound: 0.3,
  source: { kind: 'stream' as const, url: camera.url, pinned_address: '127.0.0.1' },
});
const rowOf = (jobId: string) =>
  world
    .db('jobs')
    .where({ job_id: jobId })
    .first<{ status: string; attempt: number; held_by: string | null; deaths: number[]; strikes: number[] }>();
/** A killed process holds its attempt until another one takes the job up. */
const isHeld = async (jobId: string, leastAttempt = 1) => {
  const { held_by: worker, status, attempt } = await rowOf(jobId);
  return worker !== null && status === 'running' && attempt >= leastAttempt;
};
const framesOf = (jobId: string) => world.messages(jobId).filter(({ type }) => type === 'vision.frame.v1');

async function spawn() {
  const process = await world.spawn(lease);
  open.push({ close: process.kill });
  return process;
}

async function sessionsOf(service: string): Promise<number> {
  const { rows } = await world.db.raw<{ rows: { count: string }[] }>(
    `select count(*) from pg_stat_activity where datname = current_database() and application_name = ?`,
    [service],
  );
  return Number(rows[0]?.count);
}

/** Ends a process as the kernel does, and the leases that it leaves behind. */
async function kill(process: Awaited<ReturnType<typeof spawn>>): Promise<void> {
  process.kill();
  // A statement that it sent before is still carried out, and may be a claim.
  await until(async () => (await sessionsOf('inference')) === 0);
  await world.db('workers').delete();
  await world.db('jobs').update({ lease_until: world.db.fn.now() });
}

test('a job that ends each of its processes is held alone and fails after three of them; its neighbour goes on', async () => {
  const [innocent, poison] = [newJob(), newJob()];
  for (let deaths = 0; deaths < 2; deaths += 1) {
    const process = await spawn();
    if (deaths === 0)
      for (const job of [innocent, poison]) await until(async () => (await process.submit(job)).status === 201);
    await until(async () => (await isHeld(innocent.job_id, deaths + 1)) && (await isHeld(poison.job_id, deaths + 1)));
    await kill(process);
  }
  for (let strikes = 0; strikes < 3; strikes += 1) {
    const { attempt } = await rowOf(poison.job_id);
    const process = await spawn();
    await until(() => isHeld(poison.job_id, attempt + 1));
    expect((await rowOf(poison.job_id)).strikes).toHaveLength(strikes);
    expect((await rowOf(innocent.job_id)).attempt).toBe(2);
    await kill(process);
  }
  const frames = framesOf(innocent.job_id).length;
  const last = await spawn();
  expect(await last.ended(poison.job_id)).toMatchObject({ status: 'failed', error: 'worker_crashed' });
  await until(() => world.messages(poison.job_id).some(({ data }) => data.error === 'worker_crashed'));
  await until(() => framesOf(innocent.job_id).length > frames);
  expect(await rowOf(innocent.job_id)).toMatchObject({ status: 'running', strikes: [] });
});

test('workers that stop or lose their leases and go on make no job a suspect', async () => {
  const job = newJob();
  const first = await world.start(lease);
  await until(async () => (await first.submit(job)).status === 201);
  await until(() => isHeld(job.job_id));
  await first.close();
  expect(await rowOf(job.job_id)).toMatchObject({ held_by: null, deaths: [] });

  const second = await world.start(lease);
  open.push(second);
  await until(() => isHeld(job.job_id));
  const { held_by: holder } = await rowOf(job.job_id);
  // Another worker is given the job, as after an outage of the database.
  const { attempt } = await rowOf(job.job_id);
  const elsewhere = { held_by: randomUUID(), attempt: attempt + 1, deaths: [attempt], claimed_at: world.db.fn.now() };
  await world.db('jobs').where({ job_id: job.job_id }).update(elsewhere);
  await until(async () => (await rowOf(job.job_id)).deaths.length === 0);
  expect((await rowOf(job.job_id)).held_by).not.toBe(holder);
});
