import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outboxMigration } from '../src/messaging/outbox.ts';
import { positionsMigration } from '../src/messaging/positions.ts';
import { testKafka } from '../src/testing/kafka.ts';
import type { TestKafka } from '../src/testing/kafka.ts';
import { createTestDatabase } from '../src/testing/postgres.ts';
import type { TestDatabase } from '../src/testing/postgres.ts';
import { topic } from './support/events.ts';

const fixtures = join(fileURLToPath(new URL('.', import.meta.url)), 'fixtures');
const exported: Buffer[] = [];
// An OTLP receiver as far as this test needs one: it keeps the protobuf bytes, in which names stand as plain text.
const receiver = createServer((req, res) => {
  req.on('data', (chunk: Buffer) => exported.push(chunk)).on('end', () => res.end());
});
let database: TestDatabase;
let kafka: TestKafka;

beforeAll(async () => {
  database = await createTestDatabase([outboxMigration, positionsMigration]);
  kafka = await testKafka({ topics: [topic] });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => receiver.close(resolve));
  await kafka.close();
  await database.drop();
});

test('one trace leads from the request through the outbox to the consumer, and polling is in none', async () => {
  const { port } = receiver.address() as AddressInfo;
  const child = spawn(
    process.execPath,
    [
      '--conditions=@vision/source',
      '--import',
      join(fixtures, 'traced-telemetry.ts'),
      join(fixtures, 'traced-events.ts'),
      database.url,
      kafka.brokers.join(','),
      kafka.topicPrefix,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '--no-warnings', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    },
  );
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const pairs = JSON.parse(Buffer.concat(output).toString()) as { requested: string; handled: string }[];
  expect(pairs).toHaveLength(2);
  for (const { requested, handled } of pairs) {
    expect(requested).toMatch(/^[0-9a-f]{32}$/);
    expect(handled).toBe(requested);
  }
  expect(pairs[0]?.requested).not.toBe(pairs[1]?.requested);
  const spans = Buffer.concat(exported).toString('latin1');
  for (const name of [
    'GET /things/:id',
    `send ${topic}`,
    `process ${kafka.topicPrefix}${topic}`,
    'in_the_handler',
    'outbox.lag_ms',
  ]) {
    expect(spans).toContain(name);
  }
  expect(spans).not.toContain('published_at is null');
}, 30_000);
