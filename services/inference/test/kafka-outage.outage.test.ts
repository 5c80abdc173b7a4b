import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { claimJobs } from '../src/db/claim-jobs.ts';
import { reportWorker } from '../src/db/workers.ts';
import { createHold } from '../src/jobs/hold.ts';
import { workOnJob } from '../src/jobs/work-on-job.ts';
import type { Deps } from '../src/use-cases/deps.ts';
import { getJob } from '../src/use-cases/get-job.ts';
import { submitJob } from '../src/use-cases/submit-job.ts';
import { jobWorld, serveVideo } from './support/job-service.ts';
import type { JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';

const metrics = testMetrics();
let world: JobWorld;
let camera: Awaited<ReturnType<typeof serveVideo>>;
let running: { deps: Deps; close: () => Promise<void> };

beforeAll(async () => {
  [world, camera] = await Promise.all([jobWorld(), serveVideo(street)]);
  running = await world.jobDeps({ UNSENT_FRAMES_JOB_MAX_BYTES: '20000', SAMPLE_FPS: '10' });
});
afterAll(async () => {
  camera.close();
  await running.close();
  await world.close();
});

async function takeJob(url: string) {
  const { deps } = running;
  await reportWorker(deps.db, { id: randomUUID(), capacity: 10, livePlaces: 10, seenMs: 20_000, leaseMs: 15_000 });
  const source = { kind: 'stream' as const, url, pinned_address: '127.0.0.1' };
  const jobId = randomUUID();
  await submitJob(deps, { job_id: jobId, scene_code: 'person_vehicle', lower_bound: 0.3, source });
  const claimed = await claimJobs(deps.db, { which: 'waiting', leaseMs: 60_000, limit: 100 });
  const job = claimed.find((candidate) => candidate.jobId === jobId);
  if (!job) throw new Error('the job was not claimed');
  return job;
}

const linesWith = (text: string, jobId: string) =>
  world.log
    .map(
      (line) =>
        JSON.parse(line) as { msg: string; task_id?: string; frames?: number; first_seq?: number; last_seq?: number },
    )
    .filter(({ msg, task_id: taskId }) => msg.includes(text) && taskId === jobId);

test('frames of a live stream that memory has no room for during an outage of Kafka are counted and named', async () => {
  const { deps } = running;
  let isAway = false;
  const producer: Deps['producer'] = {
    ...deps.producer,
    publishBatch: (events) =>
      isAway ? Promise.reject(fail.sysUnavailable('kafka_unavailable')) : deps.producer.publishBatch(events),
  };
  const job = await takeJob(camera.url);
  const hold = createHold({ untilMs: Infinity, onExpired: () => undefined });
  const work = workOnJob({ ...deps, producer }, job, hold);
  const frames = () => world.messages(job.jobId).filter(({ type }) => type === 'vision.frame.v1');
  await until(() => frames().length >= 3);
  isAway = true;
  const droppedFrames = async () => Number(await metrics.sumOf('vision.frames.dropped', { reason: 'unsent' }));
  await until(async () => (await droppedFrames()) >= 3);
  expect(await metrics.sumOf('vision.frames.unsent')).toBeGreaterThan(0);
  expect(linesWith('memory is full', job.jobId)).not.toEqual([]);
  isAway = false;
  const named = () => linesWith('Kafka did not take them', job.jobId);
  await until(() => named().some(({ last_seq: last }) => frames().some(({ data }) => data.seq > Number(last))));
  hold.requestStop();
  await work;
  const numbers = frames().map(({ data }) => data.seq);
  // A broker that is slow for a second is an outage as well, with a line of its own.
  const dropped = named().flatMap(({ frames: count = 0, first_seq: first = 0, last_seq: last = 0 }) => {
    expect(last - first + 1).toBe(count);
    return Array.from({ length: count }, (_, at) => first + at);
  });
  const published = new Set(numbers);
  const all = Array.from(
    { length: Math.max(...numbers) - Math.min(...numbers) + 1 },
    (_, at) => Math.min(...numbers) + at,
  );
  expect(all.filter((seq) => !published.has(seq))).toEqual(dropped);
  expect(await metrics.sumOf('vision.frames.unsent')).toBe(0);
  await deps.drops.store();
  expect((await getJob(deps, job.jobId)).frames_dropped).toBe(dropped.length);
});
