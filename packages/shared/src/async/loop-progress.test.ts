import { expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import type { Logger } from '../logger.ts';
import { testMetrics } from '../testing/metrics.ts';
import { createLoopProgress } from './loop-progress.ts';
import { createPoller } from './poller.ts';

const metrics = testMetrics();
const MINUTE_MS = 60_000;

interface Line {
  level: string;
  poller: string;
  failures?: number;
}

function testLogger() {
  const lines: Line[] = [];
  const write = (level: string) => (facts: Omit<Line, 'level'>) => void lines.push({ ...facts, level });
  // Only the levels that loops write.
  return { lines, logger: { info: write('info'), warn: write('warn'), error: write('error') } as unknown as Logger };
}

/** A loop called as its test, at a time that the test sets. */
function startLoop(name: string) {
  const { lines, logger } = testLogger();
  let nowMs = 5 * MINUTE_MS;
  const progress = createLoopProgress({ name, logger, now: () => nowMs });
  progress.started(30_000);
  const gauge = (metric: string) => metrics.sumOf(`vision.loop.${metric}`, { loop: name });
  return { progress, lines, gauge, passMs: (ms: number) => (nowMs += ms) };
}
const outage = fail.sysUnavailable('connection_lost', new Error('connect ECONNREFUSED'));
const timeout = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });

test('a loop shows the time since its last success and its pause, from its start until its stop', async () => {
  const { progress, gauge, passMs } = startLoop('shown');
  passMs(90_000);
  progress.failed(outage, 1, 250);
  expect([await gauge('last_success'), await gauge('pause')]).toEqual([90, 0.25]);
  progress.succeeded(30_000);
  passMs(4_000);
  expect([await gauge('last_success'), await gauge('pause')]).toEqual([4, 30]);
  progress.stopped();
  expect(await gauge('last_success')).toBeUndefined();
});

test.each<[string, Error, string]>([
  ['an outage', outage, 'warn'],
  ['a fault', new Error('broken'), 'error'],
  ['a statement timeout', timeout, 'error'],
])('%s that lasts is logged at its first failure and every ten minutes', (_name, error, level) => {
  const { progress, lines, passMs } = startLoop('lasting');
  for (let failures = 1; failures <= 21; failures += 1) {
    progress.failed(error, failures, 60_000);
    passMs(MINUTE_MS);
  }
  progress.succeeded(30_000);
  progress.succeeded(30_000);
  expect(lines).toMatchObject([
    ...[1, 11, 21].map((failures) => ({ level, poller: 'lasting', failures })),
    { level: 'info', poller: 'lasting' },
  ]);
  progress.stopped();
});

test('a fault is logged at once when an outage becomes one', () => {
  const { progress, lines } = startLoop('changing');
  for (const [index, error] of [outage, outage, timeout, timeout].entries()) progress.failed(error, index + 1, 1_000);
  expect(lines.map(({ level, failures }) => [level, failures])).toEqual([
    ['warn', 1],
    ['error', 3],
  ]);
  progress.stopped();
});

test('a poller whose rounds fail has no success until one of them passes', async () => {
  const { lines, logger } = testLogger();
  const passed = Promise.withResolvers<void>();
  let rounds = 0;
  const poller = createPoller({
    name: 'healing',
    intervalMs: 60 * MINUTE_MS,
    maxBackoffMs: 1,
    logger,
    run: () => {
      rounds += 1;
      if (rounds < 3) return Promise.reject(timeout);
      passed.resolve();
      return Promise.resolve(0);
    },
  });
  poller.start();
  await passed.promise;
  expect(await metrics.sumOf('vision.loop.pause', { loop: 'healing' })).toBeLessThan(1);
  // The round that passed is noted when the loop goes on.
  await new Promise(setImmediate);
  expect(await metrics.sumOf('vision.loop.pause', { loop: 'healing' })).toBe(3_600);
  expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
  await poller.stop();
});
