import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { topics } from '@vision/contracts/topics';
import { partitionOf } from '@vision/kafka/partition-of';
import { until } from '@vision/shared/testing/until';
import { jobWorld, serveVideo } from './support/job-service.ts';
import type { JobWorld } from './support/job-service.ts';
import { street } from './support/live-watch.ts';

let world: JobWorld;
let camera: Awaited<ReturnType<typeof serveVideo>>;
beforeAll(async () => {
  [world, camera] = await Promise.all([jobWorld(), serveVideo(street)]);
});
afterAll(async () => {
  camera.close();
  await world.close();
});

async function addPartitions(count: number): Promise<void> {
  const admin = world.kafka.client.kafka.admin();
  await admin.connect();
  await admin.createPartitions({ topicPartitions: [{ topic: world.kafka.client.nameOf(topics.frames), count }] });
  await until(async () => {
    const { topics: known } = await admin.fetchTopicMetadata({ topics: [world.kafka.client.nameOf(topics.frames)] });
    return known[0]?.partitions.length === count;
  });
  await admin.disconnect();
}

test('a job keeps its partition when some are added and another worker takes it over', async () => {
  const first = await world.start();
  const jobId = randomUUID();
  const source = { kind: 'stream', url: camera.url, pinned_address: '127.0.0.1' };
  await first.submit({ job_id: jobId, scene_code: 'person_vehicle', lower_bound: 0.3, source });
  await until(() => world.messages(jobId).length > 3);
  const [begun] = world.messages(jobId);
  // As many as move this key elsewhere.
  for (let count = 3; (await chosenFor(jobId)) === begun?.partition; count += 1) await addPartitions(count);
  await first.close();
  const second = await world.start();
  await until(() => world.messages(jobId).some(({ data }) => data.attempt === 2));
  await second.stop(jobId);
  await second.ended(jobId);
  await until(() => world.messages(jobId).at(-1)?.type === 'vision.job.ended.v1');
  expect(new Set(world.messages(jobId).map(({ partition }) => partition))).toEqual(new Set([begun?.partition]));
  await second.close();
});

const chosenFor = (jobId: string) => partitionOf(world.kafka.client, topics.frames, jobId);
