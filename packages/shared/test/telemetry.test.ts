import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTraced, startSpanReceiver } from '../src/testing/span-receiver.ts';
import type { SpanReceiver } from '../src/testing/span-receiver.ts';

const fixtures = join(fileURLToPath(new URL('.', import.meta.url)), 'fixtures');
let receiver: SpanReceiver;

beforeAll(async () => {
  receiver = await startSpanReceiver();
});

beforeEach(() => {
  receiver.clear();
});

afterAll(() => receiver.close());

/** Runs a service that makes one request to itself; returns what it exported, and where to. */
async function exportedWith(settings: (receiver: string) => Record<string, string>): Promise<string> {
  const [preload, program] = [join(fixtures, 'traced-telemetry.ts'), join(fixtures, 'traced-service.ts')];
  const others = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
  await runTraced(preload, program, [], { ...others, ...settings(receiver.url) });
  return receiver.text();
}

test('one request gives the span of its route, of what it asks the database and of the call that it came by', async () => {
  const spans = await exportedWith((url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }));
  for (const name of ['GET /things/{id}', 'getThing', 'postgres select', 'tasks getThing'])
    expect(spans).toContain(name);
  expect(spans).toContain('@opentelemetry/instrumentation-http');
});

test('the span of a request whose client left says that no client saw the status on it', async () => {
  await exportedWith((url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }));
  const spans = JSON.stringify(receiver.json('/v1/traces')).split('"traceId"');
  const cut = spans.filter((span) => span.includes('app.answer.is_cut'));
  expect(cut).toHaveLength(1);
  expect(cut[0]).toContain('GET /slow');
});

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
])('spans are exported as the standard variables say: $how', async ({ settings }) => {
  expect(await exportedWith(settings)).toContain('GET /things/{id}');
});

test('without an address, or with the exporter "none", nothing is exported', async () => {
  expect(await exportedWith(() => ({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }))).toBe('');
  const none = (url: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_EXPORTER: 'none' });
  expect(await exportedWith(none)).toBe('');
});
