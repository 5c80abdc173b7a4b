import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startSpanReceiver } from '../src/testing/span-receiver.ts';
import type { SpanReceiver } from '../src/testing/span-receiver.ts';

const fixtures = join(fileURLToPath(new URL('.', import.meta.url)), 'fixtures');
let receiver: SpanReceiver;

beforeAll(async () => {
  receiver = await startSpanReceiver();
});

beforeEach(() => receiver.clear());

afterAll(() => receiver.close());

type Line = Record<string, unknown> & { msg: string };

/** Runs the fixture; returns its lines, and what it answered to a scrape. */
async function run(env: Record<string, string>, lines = 0): Promise<{ lines: Line[]; told: string }> {
  const flags = ['--conditions=@vision/source', '--import', join(fixtures, 'traced-telemetry.ts')];
  const child = spawn(process.execPath, [...flags, join(fixtures, 'telling-service.ts'), String(lines)], {
    env: { ...process.env, NODE_OPTIONS: '--no-warnings', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...env },
  });
  const [stdout, told] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const written = stdout.trim().split('\n');
  return { lines: written.map((line) => JSON.parse(line) as Line), told };
}

interface LogRecord {
  body: { stringValue: string };
  severityText: string;
  severityNumber: number;
  traceId?: string;
  spanId?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}
interface LogRequest {
  resourceLogs: { resource: { attributes: LogRecord['attributes'] }; scopeLogs: { logRecords: LogRecord[] }[] }[];
}
const recordsAt = (path = '/v1/logs') =>
  (receiver.json(path) as LogRequest[]).flatMap(({ resourceLogs }) =>
    resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)),
  );
const attribute = (record: LogRecord | undefined, name: string) =>
  record?.attributes.find(({ key }) => key === name)?.value;

test('every line of stdout leaves by OTLP once, with its trace, redacted in the same way, and stdout stays', async () => {
  const { lines } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, 1_500);
  const records = recordsAt();
  expect(records.map(({ body }) => body.stringValue)).toEqual(lines.map(({ msg }) => msg));
  expect(lines).toHaveLength(1_502);
  const [inside, outside] = records;
  expect(lines[0]).toMatchObject({ service: 'telling', level: 'info', password: '***', task_id: 'a-task' });
  expect(lines[0]).toMatchObject({ trace_id: inside?.traceId, span_id: inside?.spanId });
  expect(inside?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(inside).toMatchObject({ severityText: 'info', severityNumber: 9 });
  expect(attribute(inside, 'task_id')).toEqual({ stringValue: 'a-task' });
  expect(attribute(inside, 'password')).toEqual({ stringValue: '***' });
  expect(JSON.stringify(attribute(inside, 'upstream'))).toContain('limit_ms');
  expect(attribute(inside, 'trace_id')).toBeUndefined();
  expect(outside?.traceId ?? '').toBe('');
  expect(attribute(outside, 'exception.type')).toEqual({ stringValue: 'TypeError' });
  expect(attribute(outside, 'exception.message')).toEqual({ stringValue: 'it broke' });
  expect(receiver.text()).not.toContain('hunter2');
});

test('metrics leave by OTLP from the instruments that a scrape reads', async () => {
  const { told } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const pushed = receiver.text('/v1/metrics');
  for (const name of ['vision.consumer.offset_resets', 'vision.build.info', 'nodejs.eventloop.utilization'])
    expect(pushed).toContain(`"${name}"`);
  expect(told).toMatch(/^vision_consumer_offset_resets_total\{[^}]*\} 3$/m);
  expect(told).toMatch(/^vision_build_info\{version="\d+\.\d+\.\d+[^"]*",commit="none",node="\d+[^}]*\} 1$/m);
  expect(told).toMatch(/^nodejs_eventloop_utilization_ratio\{/m);
  expect(told).toMatch(/^v8js_memory_heap_used_bytes\{/m);
});

interface Sending {
  what: string;
  settings: (url: string) => Record<string, string>;
  paths: string[];
}

const sendings: Sending[] = [
  {
    what: 'each signal by an address of its own, when the general one is empty',
    settings: (url: string) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: '',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/m`,
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${url}/l`,
    }),
    paths: ['/m', '/l'],
  },
  {
    what: 'none that is called "none"',
    settings: (url: string) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
    }),
    paths: ['/v1/traces'],
  },
  {
    what: 'no metrics that are only to be read, and no lines to a console that has them already',
    settings: (url: string) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_LOGS_EXPORTER: 'console',
    }),
    paths: ['/v1/traces'],
  },
  { what: 'nothing without an address', settings: () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), paths: [] },
];

test.each(sendings)('the standard variables say what is sent: $what', async ({ settings, paths }) => {
  const { lines, told } = await run(settings(receiver.url));
  for (const path of ['/m', '/l', '/v1/traces', '/v1/metrics', '/v1/logs'])
    expect({ path, isSent: receiver.text(path) !== '' }).toEqual({ path, isSent: paths.includes(path) });
  expect(lines).toHaveLength(2);
  expect(told).toContain('vision_build_info');
});

/** A collector that takes connections and never answers. */
async function startSilentCollector(): Promise<{ server: Server; url: string; connections: Set<Socket> }> {
  const connections = new Set<Socket>();
  const server = createServer((socket) => connections.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, connections, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a collector that is unavailable or silent costs no line, and holds up no stop for more than 2 s', async () => {
  const silent = await startSilentCollector();
  for (const url of [silent.url, 'http://127.0.0.1:1']) {
    const { lines, told } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, 5_000);
    expect(lines).toHaveLength(5_002);
    // A collector may take ten seconds to answer an export.
    expect(Number(/stopped in (\d+) ms/.exec(told)?.[1])).toBeLessThan(9_000);
  }
  expect(silent.connections.size).toBeGreaterThan(0);
  for (const socket of silent.connections) socket.destroy();
  silent.server.close();
});
