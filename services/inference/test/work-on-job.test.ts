import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atMost } from '@vision/shared/async/at-most';
import { until } from '@vision/shared/testing/until';
import { claimJobs } from '../src/db/claim-jobs.ts';
import { reportWorker } from '../src/db/workers.ts';
import type { JobRecord } from '../src/domain/job.ts';
import { createHold } from '../src/jobs/hold.ts';
import { workOnJob } from '../src/jobs/work-on-job.ts';
import type { Deps } from '../src/use-cases/deps.ts';
import { getJob } from '../src/use-cases/get-job.ts';
import { submitJob } from '../src/use-cases/submit-job.ts';
import { jobWorld } from './support/job-service.ts';
import type { JobWorld } from './support/job-service.ts';
import { httpServer, street } from './support/live-watch.ts';
import { videoDirectory } from './support/videos.ts';

let world: JobWorld;
let running: { deps: Deps; close: () => Promise<void> };
let videos: Awaited<ReturnType<typeof videoDirectory>>;

beforeAll(async () => {
  [world, videos] = await Promise.all([jobWorld(), videoDirectory()]);
  running = await world.jobDeps();
});
afterAll(async () => {
  await running.close();
  await world.close();
  await videos.remove();
});

const forGood = { untilMs: Infinity, onExpired: () => undefined };
const typesOf = (jobId: string) => world.messages(jobId).map(({ type }) => type);

/** A job of this stream, claimed by a worker. */
async function takeJob(url: string): Promise<JobRecord> {
  const { deps } = running;
  await reportWorker(deps.db, { id: randomUUID(), capacity: 10, livePlaces: 10, seenMs: 20_000, leaseMs: 15_000 });
  const source = { kind: 'stream' as const, url, pinned_address: '127.0.0.1' };
  const jobId = randomUUID();
  const input = { job_id: jobId, scene_code: 'person_vehicle', lower_bound: 0.3, source };
  expect(await submitJob(deps, input)).toMatchObject({ kind: 'created' });
  return claim(jobId);
}

async function claim(jobId: string): Promise<JobRecord> {
  const { db } = running.deps;
  await db('jobs').where({ job_id: jobId }).update({ lease_until: db.fn.now() });
  const claimed = await claimJobs(db, { which: 'waiting', leaseMs: 60_000, limit: 100 });
  const job = claimed.find((candidate) => candidate.jobId === jobId);
  if (!job) throw new Error('the job was not claimed');
  return job;
}

test('a worker whose job was taken over before it began reports nothing about it', async () => {
  const { deps } = running;
  const late = await takeJob('http://127.0.0.1:1/x');
  const owner = await claim(late.jobId);
  await workOnJob(deps, late, createHold(forGood));
  const hold = createHold(forGood);
  hold.requestStop();
  await workOnJob(deps, owner, hold);
  await until(() => typesOf(late.jobId).length > 0);
  expect(world.messages(late.jobId).map(({ data }) => data)).toMatchObject([{ attempt: 2, status: 'stopped' }]);
});

test('a source that fails finally is reported after its frames', async () => {
  const { deps } = running;
  const clip = await readFile(await videos.make('clip.ts', '-i', street, '-t', '2', '-c', 'copy', '-f', 'mpegts'));
  let requests = 0;
  const base = await httpServer((_req, res) => {
    requests += 1;
    if (requests === 1) res.writeHead(200).end(clip);
    else res.writeHead(401).end();
  });
  const ended = Promise.withResolvers<void>();
  const slowBroker: Deps['producer'] = {
    ...deps.producer,
    // Accepts frames only after the end was reported, or after the time in which it would have been reported.
    publishBatch: async (events) => {
      await until(() => requests > 1);
      await atMost(3_000, ended.promise);
      await deps.producer.publishBatch(events);
    },
    publish: async (events) => {
      await deps.producer.publish(events);
      ended.resolve();
    },
  };
  const job = await takeJob(`${base}/x`);
  await workOnJob({ ...deps, producer: slowBroker }, job, createHold(forGood));
  await until(() => typesOf(job.jobId).includes('vision.frame.v1'));
  await until(() => typesOf(job.jobId).includes('vision.job.ended.v1'));
  expect(typesOf(job.jobId).at(-1)).toBe('vision.job.ended.v1');
  const end = world.messages(job.jobId).at(-1)?.data;
  expect(end).toMatchObject({ status: 'failed', error: 'auth_failed' });
  expect(end?.frames_published).toBe(typesOf(job.jobId).length - 1);
});

test('a live stream below its frame rate shows since when, until it is at its full rate again', async () => {
  const { deps } = running;
  const rate = Promise.withResolvers<(isBehind: boolean) => void>();
  const liveCosts: Deps['liveCosts'] = {
    ...deps.liveCosts,
    watch: (stream) => {
      rate.resolve(stream.onBehind);
      return deps.liveCosts.watch(stream);
    },
  };
  const job = await takeJob(`${await httpServer(() => undefined)}/silent`);
  const behindSince = async () => (await getJob(deps, job.jobId)).behind_since;
  const hold = createHold(forGood);
  const work = workOnJob({ ...deps, liveCosts }, job, hold);
  const tell = await rate.promise;
  expect(await behindSince()).toBeUndefined();
  tell(true);
  await until(async () => Date.parse((await behindSince()) ?? '') > Date.now() - 60_000);
  tell(false);
  await until(async () => (await behindSince()) === undefined);
  hold.requestStop();
  await work;
});
