import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { topics } from '@vision/contracts/topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { startLyingS3 } from '@vision/objects/testing/lying-s3';
import type { LyingS3 } from '@vision/objects/testing/lying-s3';
import { freePort } from '@vision/shared/testing/ports';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { startProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { createWorld } from './support/start-images.ts';
import type { World } from './support/start-images.ts';

let kafka: TestKafka;
let world: World & { empty: TestDatabase; noRemoval: LyingS3 };

beforeAll(async () => {
  kafka = await testKafka({ topics: [topics.images], partitions: 2 });
  const started = await createWorld(kafka);
  const noRemoval = await startLyingS3(Number(new URL(started.env['S3_ENDPOINT'] ?? '').port));
  noRemoval.tell({ kind: 'refuses', method: 'POST', query: 'delete' });
  world = { ...started, empty: await createTestDatabase([]), noRemoval };
});

afterAll(async () => {
  await world.close();
  await world.noRemoval.close();
  await world.empty.drop();
  await kafka.close();
});

/** The fault, the first line of the log, and the fate of the process. */
interface Row {
  what: string;
  changed: (from: typeof world) => Record<string, string>;
  says: RegExp;
  /** Ends at once, is not ready until the fault is fixed, or works without the dependency for a while. */
  then: 'ends' | 'is not ready' | 'is ready';
}

const rows: Row[] = [
  { what: 'a wrong value', changed: () => ({ MAX_CALLS: 'many' }), says: /MAX_CALLS: .*not "many"/, then: 'ends' },
  {
    what: 'a missing secret',
    changed: () => ({ SERVICE_KEY: '' }),
    says: /SERVICE_KEY: is missing/,
    then: 'ends',
  },
  {
    what: 'a file of a secret that is not there',
    changed: () => ({ S3_SECRET_KEY: '', S3_SECRET_KEY_FILE: '/nowhere/key' }),
    says: /S3_SECRET_KEY_FILE.*\/nowhere\/key/,
    then: 'ends',
  },
  {
    what: 'brokers that do not answer',
    changed: () => ({ KAFKA_BROKERS: '127.0.0.1:1' }),
    says: /^No broker of KAFKA_BROKERS=127\.0\.0\.1:1 answers: ECONNREFUSED$/,
    then: 'is ready',
  },
  {
    what: 'a database that is not migrated',
    changed: ({ empty }) => ({ DATABASE_URL: empty.url }),
    says: /^The database vision_test_\w+ of DATABASE_URL \(.*\) is not migrated: [\w-]+ is missing/,
    then: 'is not ready',
  },
  {
    what: 'a topic with too few partitions',
    changed: () => ({ TOPICS: '{"default":{"partitions":3}}' }),
    says: /vision\.images\.v1 has 2 partitions, and TOPICS asks for 3/,
    then: 'is not ready',
  },
  {
    what: 'a bucket that is not there',
    changed: () => ({ S3_BUCKET: 'absent' }),
    says: /^There is no bucket S3_BUCKET=absent at S3_ENDPOINT=http/,
    then: 'is not ready',
  },
  {
    what: 'keys of the bucket that are refused',
    changed: () => ({ S3_SECRET_KEY: 'wrong-secret' }),
    says: /refuses S3_ACCESS_KEY and S3_SECRET_KEY for the bucket S3_BUCKET=/,
    then: 'is not ready',
  },
  {
    what: 'a right in the bucket that is missing',
    changed: ({ noRemoval }) => ({ S3_ENDPOINT: `http://127.0.0.1:${noRemoval.port}` }),
    says: /refuses S3_ACCESS_KEY and S3_SECRET_KEY for the bucket S3_BUCKET=.*: it needs s3:DeleteObject, below/,
    then: 'is not ready',
  },
];

test.each(rows)('$what is the first line of the log, and the process $then', async ({ changed, says, then }) => {
  const HEALTH_PORT = String(await freePort());
  const ports = { PORT: String(await freePort()), HEALTH_PORT };
  const images = startProcess('images', { ...world.env, LOG_LEVEL: 'info', ...ports, ...changed(world) });
  try {
    const first = () => /^\{.*\}$/m.exec(images.output())?.[0];
    const line = JSON.parse(await until(first)) as { level: string; msg: string };
    expect(line.msg).toMatch(says);
    expect(line.level).toBe(then === 'ends' ? 'fatal' : 'error');
    expect(images.output()).not.toContain('wrong-secret');
    if (then === 'ends') {
      expect(await images.ended).toBe('1');
      return;
    }
    const ready = async () => {
      const answer = await fetch(`http://127.0.0.1:${HEALTH_PORT}/health/ready`);
      return `${answer.status} ${await answer.text()}`;
    };
    const expected = then === 'is ready' ? '200 ok\n' : `503 no\n${line.msg}\n`;
    await until(async () => (await ready()) === expected);
  } finally {
    await images.stop();
  }
});
