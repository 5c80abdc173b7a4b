import { expect, test } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCounter, createHistogram, observe } from './instruments.ts';
import { counter, gauge, histogram } from './metric.ts';
import { PullReader } from './pull-metrics.ts';

const readers = [new PullReader(), new PullReader()];
metrics.setGlobalMeterProvider(new MeterProvider({ readers }));

/** The text that a scrape of this reader is answered. */
async function textOf(reader = readers[0]): Promise<string> {
  const server = createServer((_req, res) => void reader?.answer(res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const text = await reply.text();
  server.close();
  return text;
}

/** The same, without comments and the labels of the library. */
async function scrape(reader = readers[0]): Promise<string[]> {
  return (await textOf(reader))
    .split('\n')
    .filter((line) => !line.startsWith('#') && line !== '')
    .map((line) =>
      line
        .replace(/,?otel_scope_name="[^"]*"/, '')
        .replace('{,', '{')
        .replace('{}', ''),
    );
}

test('names end in their unit, as those that a collector makes of pushed metrics', async () => {
  createHistogram(histogram('test.wait', { meaning: 'Waiting', buckets: [1, 20] })).record(5);
  createCounter(counter('test.idle', { meaning: 'Idle', unit: 's' })).add(2);
  observe(gauge('test.spool.bytes', { meaning: 'Kept', unit: 'By' }), (tell) => tell(7));
  observe(gauge('test.busy', { meaning: 'Share', unit: '1' }), (tell) => tell(0.5));
  const series = await scrape();
  for (const wanted of [
    'test_wait_seconds_bucket{le="20"} 1',
    'test_wait_seconds_count 1',
    'test_idle_seconds_total 2',
    'test_spool_bytes 7',
    'test_busy_ratio 0.5',
  ])
    expect(series).toContain(wanted);
});

test('a metric without any sample is named all the same', async () => {
  createHistogram(histogram('test.rare', { meaning: 'Rare', buckets: [1] }));
  expect(await textOf()).toMatch(/^# TYPE test_rare_seconds histogram$/m);
});

test('a counter begins with 0 for every combination of labels whose values are listed', async () => {
  const labels = { how: ['well', 'badly'], who: 'any word' } as const;
  createCounter(counter('test.ends', { meaning: 'Ends', labels }), { who: 'me' }).add(1, { how: 'well' });
  const series = (await scrape()).filter((line) => line.startsWith('test_ends'));
  expect(series.toSorted()).toEqual([
    'test_ends_total{who="me",how="badly"} 0',
    'test_ends_total{who="me",how="well"} 1',
  ]);
});

test('what a gauge does not tell any more is not shown any more, by any of two readers', async () => {
  let held = [0, 1];
  observe(gauge('test.lag', { meaning: 'Behind', labels: { partition: 'a number' } }), (tell) => {
    for (const partition of held) tell(5, { partition });
  });
  const partitionsOf = async (reader?: PullReader) =>
    (await scrape(reader)).filter((line) => line.startsWith('test_lag')).length;
  expect(await partitionsOf()).toBe(2);
  expect(await partitionsOf(readers[1])).toBe(2);
  held = [1];
  // What one reader has seen meanwhile the other shows once more.
  for (const reader of [...readers, ...readers]) await scrape(reader);
  for (const reader of readers) expect(await partitionsOf(reader)).toBe(1);
  held = [];
  for (const reader of [...readers, ...readers]) await scrape(reader);
  for (const reader of readers) expect(await partitionsOf(reader)).toBe(0);
});
