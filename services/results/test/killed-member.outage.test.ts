import { afterAll, beforeAll, test } from '@jest/globals';
import { frameProduced } from '@vision/contracts/frame-events';
import { freePort } from '@vision/shared/testing/ports';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { frame, newTaskId, settingsOfStore, startResults } from './support.ts';
import type { TestResults } from './support.ts';

let results: TestResults;
beforeAll(async () => {
  results = await startResults();
});
afterAll(() => results.stop());

const settings = async () => ({
  ...settingsOfStore(results.s3),
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  HEALTH_PORT: String(await freePort()),
  DATABASE_URL: results.database.url,
  KAFKA_BROKERS: results.kafka.brokers.join(','),
  TOPIC_PREFIX: results.kafka.topicPrefix,
  SERVICE_KEY: testServiceKey('results'),
  SERVICE_PUBLIC_KEYS: testPublicKeys,
  CURSOR_KEYS: 'cursor-key-cursor-key-cursor-key-cursor',
  TASKS_URL: results.tasks.url,
  IMAGES_URL: results.images.url,
});

test('the frames of a replica that was killed are stored by another one within half a minute', async () => {
  const { client } = results.kafka;
  const admin = client.kafka.admin();
  await admin.connect();
  const members = async () => {
    const { groups } = await admin.describeGroups([client.nameOf('results-frames')]);
    return groups[0]?.state === 'Stable' ? groups[0].members.length : 0;
  };
  const env = await settings();
  const doomed = startProcess('results', env);
  try {
    await untilReady(doomed, Number(env.HEALTH_PORT));
    await until(async () => (await members()) === 2);
    doomed.child.kill('SIGKILL');
    await doomed.ended;
    // Enough tasks that each partition has some.
    const tasks = Array.from({ length: 20 }, newTaskId);
    await results.producer.publishBatch(
      tasks.map((task) => ({ ...frameProduced, key: task, source: 'inference', data: frame(task, 0) })),
    );
    const stored = async () => (await results.database.db('ingests').whereIn('task_id', tasks)).length;
    await until(async () => (await stored()) === tasks.length, { intervalMs: 200 });
    await until(async () => (await members()) === 1);
  } finally {
    await doomed.stop();
    await admin.disconnect();
  }
});
