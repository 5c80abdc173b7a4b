import { createTestDatabase } from '@vision/shared/testing/postgres';
import { freePort } from '@vision/shared/testing/ports';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import { migrateProcess, startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { TestKafka } from '@vision/shared/testing/kafka';

/** The results service as a process, on a database of its own: what becomes of the frames that jobs publish. */
export async function startResultsProcess(kafka: TestKafka) {
  const database = await createTestDatabase([]);
  const [port, healthPort] = [await freePort(), await freePort()];
  const env = {
    HOST: '127.0.0.1',
    PORT: String(port),
    HEALTH_PORT: String(healthPort),
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    SERVICE_KEY: testServiceKey('results'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    CURSOR_KEYS: 'cursor-key-cursor-key-cursor-key-cursor',
    TASKS_URL: 'http://127.0.0.1:1',
    IMAGES_URL: 'http://127.0.0.1:1',
  };
  await migrateProcess('results', env);
  const running = startProcess('results', env);
  await untilReady(running, healthPort);
  return {
    output: running.output,
    /** Numbers of the frames of a task that are stored, each as often as it is. */
    stored: async (taskId: string) => {
      const rows = await database
        .db('frames')
        .where({ task_id: taskId })
        .orderBy('seq')
        .select<{ seq: number }[]>('seq');
      return rows.map(({ seq }) => seq);
    },
    close: async () => {
      await running.stop();
      await database.drop();
    },
  };
}
