import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
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
// A receiver of spans as far as this test needs one: it keeps the bytes, in which names stand as plain text.
const receiver = createServer((req, res) => {
  req.on('data', (chunk: Buffer) => received.push(chunk)).on('end', () => res.end());
});

beforeAll(async () => {
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});

beforeEach(() => {
  received.length = 0;
});

afterAll(async () => {
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  await new Promise((resolve) => receiver.close(resolve));
});

/** Runs a service that makes one request to itself; returns what it exported, and where to. */
async function exportedWith(settings: (receiver: string) => Record<string, string>): Promise<string> {
  const { port } = receiver.address() as AddressInfo;
  const preload = ['--import', join(fixtures, 'traced-telemetry.ts')];
  const args = ['--conditions=@vision/source', ...preload, join(fixtures, 'traced-service.ts'), topic];
  const env = { ...process.env, NODE_OPTIONS: '--no-warnings', ...settings(`http://127.0.0.1:${port}`) };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  return Buffer.concat(received).toString('latin1');
}

test('one request through an ESM service gives spans of http, express, pg, ioredis, kafkajs and undici', async () => {
  const spans = await exportedWith((url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }));
  for (const library of ['http', 'express', 'pg', 'ioredis', 'kafkajs', 'undici']) {
    expect(spans).toContain(`@opentelemetry/instrumentation-${library}`);
  }
  expect(spans).toContain('GET /things/:id');
}, 30_000);

test.each([
  {
    how: 'by the address for traces, when the general one is empty',
    settings: (url: string) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`,
    }),
  },
  {
    how: 'by the name of an exporter',
    settings: (url: string) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_EXPORTER_ZIPKIN_ENDPOINT: `${url}/api/v2/spans`,
    }),
  },
])(
  'spans are exported as the standard variables say: $how',
  async ({ settings }) => {
    expect(await exportedWith(settings)).toContain('GET /things/:id');
  },
  30_000,
);

test('without an address, or with the exporter "none", nothing is exported', async () => {
  expect(await exportedWith(() => ({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }))).toBe('');
  const none = (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_EXPORTER: 'none' });
  expect(await exportedWith(none)).toBe('');
}, 30_000);
