import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outboxMigration } from '../src/outbox.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { runTraced, startSpanReceiver } from '@vision/shared/testing/span-receiver';
import type { SpanReceiver } from '@vision/shared/testing/span-receiver';
import { topic } from './support/events.ts';

const fixtures = join(fileURLToPath(new URL('.', import.meta.url)), 'fixtures');
const preload = join(fixtures, '../../../shared/test/fixtures/traced-telemetry.ts');
let receiver: SpanReceiver;
let database: TestDatabase;
let kafka: TestKafka;

beforeAll(async () => {
  database = await createTestDatabase([outboxMigration, positionsMigration, positionEpochsMigration]);
  kafka = await testKafka({ topics: [topic] });
  receiver = await startSpanReceiver();
});
afterAll(async () => {
  await receiver.close();
  await kafka.close();
  await database.drop();
});

test('one trace leads from the request through the outbox to the consumer, and polling is in none', async () => {
  const args = [database.url, kafka.brokers.join(','), kafka.topicPrefix];
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const output = await runTraced(preload, join(fixtures, 'traced-events.ts'), args, env);
  const pairs = JSON.parse(output) as { requested: string; handled: string }[];
  expect(pairs).toHaveLength(2);
  for (const { requested, handled } of pairs) {
    expect(requested).toMatch(/^[0-9a-f]{32}$/);
    expect(handled).toBe(requested);
  }
  expect(pairs[0]?.requested).not.toBe(pairs[1]?.requested);
  const spans = receiver.text();
  for (const name of [
    'GET /things/{id}',
    `send ${topic}`,
    `process ${kafka.topicPrefix}${topic}`,
    'in_the_handler',
    'outbox.lag_ms',
  ]) {
    expect(spans).toContain(name);
  }
  expect(spans).not.toContain('published_at is null');
});
