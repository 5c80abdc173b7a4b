import { createTestDatabase, migrationsOf } from '@vision/shared/testing/postgres';
import { freePort } from '@vision/shared/testing/ports';
import { testS3 } from '@vision/objects/testing/s3';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { storedFrames } from '../../../../test/support/stored-frames.ts';

/** The results service as a process, on a database of its own: what becomes of the frames that jobs publish. */
export async function startResultsProcess(kafka: TestKafka) {
  const [database, s3] = await Promise.all([createTestDatabase(await migrationsOf('results')), testS3()]);
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
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
  };
  const running = startProcess('results', env);
  await untilReady(running, healthPort);
  return {
    output: running.output,
    /** Numbers of the frames of a task that are stored, each as often as it is. */
    stored: async (taskId: string) => {
      const frames = await storedFrames(async <T>(sql: string) => (await database.db.raw<{ rows: T[] }>(sql)).rows);
      return (frames.get(taskId) ?? []).map(({ seq }) => seq).sort((one, other) => one - other);
    },
    close: async () => {
      await running.stop();
      await Promise.all([database.drop(), s3.close()]);
    },
  };
}
