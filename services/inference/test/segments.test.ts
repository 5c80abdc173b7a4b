import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { consumerGroups, groupFeatures, topics } from '@vision/contracts/topics';
import { announcing } from '@vision/kafka/group-features';
import { until } from '@vision/shared/testing/until';
import { jobWorld, serveVideo } from './support/job-service.ts';
import type { JobService, JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';
import { streamJob } from './support/stream-job.ts';

let world: JobWorld;
let camera: Awaited<ReturnType<typeof serveVideo>>;
let worker: JobService;

beforeAll(async () => {
  [world, camera] = await Promise.all([jobWorld(), serveVideo(street)]);
  worker = await world.start({ SEGMENT_LINGER_MS: '600', SAMPLE_FPS: '10' });
});
afterAll(async () => {
  camera.close();
  await worker.close();
  await world.close();
});

/** A member of the group that stores frames; without `features` it belongs to an earlier release. */
async function join(features?: readonly string[]) {
  const { client } = world.kafka;
  const [{ group }] = consumerGroups.results;
  const consumer = client.kafka.consumer({
    groupId: client.nameOf(group),
    maxWaitTimeInMs: 100,
    ...(features && { partitionAssigners: [announcing(features)] }),
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [client.nameOf(topics.frames)] });
  await consumer.run({ autoCommit: false, eachMessage: () => Promise.resolve() });
  return consumer;
}

test('frames are sent in segments while every reader has announced support for them, and none is lost', async () => {
  const created = [streamJob(camera.url), streamJob(camera.url)];
  for (const job of created) await worker.submit(job);
  const jobs = created.map(({ job_id: jobId }) => jobId);
  const framesOf = (jobId: string) => world.messages(jobId).filter(({ type }) => type === 'vision.frame.v1');
  const all = () => jobs.flatMap(framesOf);
  const segmentsAfter = (count: number) =>
    jobs.every((jobId) =>
      framesOf(jobId)
        .slice(count)
        .some(({ ofSegment }) => ofSegment !== undefined),
    );
  const singlesAfter = (count: number) =>
    jobs.every((jobId) =>
      framesOf(jobId)
        .slice(count)
        .some(({ ofSegment }) => ofSegment === undefined),
    );
  const counts = () => Math.max(...jobs.map((jobId) => framesOf(jobId).length));

  // There is no reader yet.
  await until(() => jobs.every((jobId) => framesOf(jobId).length >= 5));
  expect(all().every(({ ofSegment }) => ofSegment === undefined)).toBe(true);

  const reader = await join([groupFeatures.frameSegments]);
  await until(() => segmentsAfter(0));

  const older = await join();
  const joined = counts();
  await until(() => singlesAfter(joined));
  await older.disconnect();
  const left = counts();
  await until(() => segmentsAfter(left));

  for (const jobId of jobs) {
    await worker.stop(jobId);
    expect((await worker.ended(jobId)).status).toBe('stopped');
  }
  for (const jobId of jobs) {
    const messages = await until(() => {
      const found = world.messages(jobId);
      return found.at(-1)?.type === 'vision.job.ended.v1' ? found : undefined;
    });
    const seqs = framesOf(jobId).map(({ data }) => data.seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    expect(messages.at(-1)?.data).toMatchObject({ frames_published: seqs.length });
  }
  await reader.disconnect();
});
