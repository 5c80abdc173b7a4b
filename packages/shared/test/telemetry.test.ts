import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixtures = join(fileURLToPath(new URL('.', import.meta.url)), 'fixtures');
const topic = `telemetry-${randomUUID()}`;
const kafka = new Kafka({ brokers: (process.env['TEST_KAFKA_BROKERS'] ?? '').split(','), logLevel: logLevel.ERROR });
const admin = kafka.admin();
const received: Buffer[] = [];
// An OTLP receiver as far as this test needs one: it keeps the protobuf bytes, in which names stand as plain text.
const receiver = createServer((req, res) => {
  req.on('data', (chunk: Buffer) => received.push(chunk)).on('end', () => res.end());
});

beforeAll(async () => {
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  await new Promise((resolve) => receiver.close(resolve));
});

test('one request through an ESM service gives spans of http, express, pg, ioredis, kafkajs and undici', async () => {
  const { port } = receiver.address() as AddressInfo;
  const child = spawn(
    process.execPath,
    [
      '--conditions=@vision/source',
      '--import',
      join(fixtures, 'traced-telemetry.ts'),
      join(fixtures, 'traced-service.ts'),
      topic,
    ],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '--no-warnings', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    },
  );
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  const spans = Buffer.concat(received).toString('latin1');
  for (const library of ['http', 'express', 'pg', 'ioredis', 'kafkajs', 'undici']) {
    expect(spans).toContain(`@opentelemetry/instrumentation-${library}`);
  }
  expect(spans).toContain('GET /things/:id');
}, 30_000);
