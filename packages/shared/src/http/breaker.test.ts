import { afterEach, expect, jest, test } from '@jest/globals';
import { until } from '../testing/until.ts';
import { createBreaker } from './breaker.ts';
import type { Breaker, Settled, Verdict } from './breaker.ts';

const made: Breaker[] = [];
afterEach(() => {
  made.splice(0).forEach((breaker) => breaker.shutdown());
  jest.useRealTimers();
});

const breakerOf = (resetMs = 20) => {
  const breaker = createBreaker({ upstream: 'inference', operation: 'test', resetMs });
  made.push(breaker);
  return breaker;
};
const classify = (settled: Settled<Verdict>): Verdict => ('value' in settled ? settled.value : 'fault');
const say = (breaker: Breaker, verdict: Verdict) => breaker.run(async () => verdict, classify);
const times = async (count: number, act: () => Promise<unknown>) => {
  for (let index = 0; index < count; index += 1) await act().catch(() => undefined);
};
const broken = (breaker: Breaker) => times(10, () => say(breaker, 'fault'));
const halfOpen = (breaker: Breaker) => until(() => breaker.state() === 'half-open', { intervalMs: 2 });
const held = () => {
  const { promise, resolve: release } = Promise.withResolvers<Verdict>();
  return { work: () => promise, release };
};

test('a single failure does not open it, ten do', async () => {
  const breaker = breakerOf();
  await times(9, () => say(breaker, 'fault'));
  expect(breaker.state()).toBe('closed');
  await say(breaker, 'fault');
  expect(breaker.state()).toBe('open');
});

test('errors that are thrown count like results that are classified as faults, and reach the caller', async () => {
  const breaker = breakerOf();
  const crash = () => breaker.run(() => Promise.reject(new Error('reset')), classify);
  await expect(crash()).rejects.toThrow('reset');
  await times(9, crash);
  expect(breaker.state()).toBe('open');
});

test('half of the calls may fail, more may not', async () => {
  const breaker = breakerOf();
  await times(10, () => say(breaker, 'ok'));
  await times(10, () => say(breaker, 'fault'));
  expect(breaker.state()).toBe('closed');
  await say(breaker, 'fault');
  expect(breaker.state()).toBe('open');
});

test('on a busy system 20 failures after the last success open it, once that success is 2 s old', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(60_000);
  await times(100, () => say(breaker, 'ok'));
  await times(40, () => say(breaker, 'fault'));
  expect(breaker.state()).toBe('closed');
  await jest.advanceTimersByTimeAsync(2_000);
  await say(breaker, 'fault');
  expect(breaker.state()).toBe('open');
});

test('19 failures after the last success do not open a busy breaker, however old that success is', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(60_000);
  await times(100, () => say(breaker, 'ok'));
  await jest.advanceTimersByTimeAsync(5_000);
  await times(19, () => say(breaker, 'fault'));
  expect(breaker.state()).toBe('closed');
  await say(breaker, 'fault');
  expect(breaker.state()).toBe('open');
});

test('failures of calls that began before the last success, and failures before one, are no outage', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(60_000);
  await times(100, () => say(breaker, 'ok'));
  const slow = held();
  const early = Array.from({ length: 30 }, () => breaker.run(slow.work, classify));
  await times(19, () => say(breaker, 'fault'));
  await say(breaker, 'ok');
  await jest.advanceTimersByTimeAsync(5_000);
  slow.release('fault');
  await Promise.all(early);
  expect(breaker.state()).toBe('closed');
});

test('one success ends an outage that opened it: older failures no longer count', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(1_000);
  await times(100, () => say(breaker, 'ok'));
  await jest.advanceTimersByTimeAsync(2_000);
  await times(20, () => say(breaker, 'fault'));
  await jest.advanceTimersByTimeAsync(1_000);
  await say(breaker, 'ok');
  expect(breaker.state()).toBe('closed');
  await jest.advanceTimersByTimeAsync(3_000);
  await times(9, () => say(breaker, 'fault'));
  expect(breaker.state()).toBe('closed');
});

test('neutral outcomes neither open it nor dilute the error rate', async () => {
  const breaker = breakerOf();
  await times(50, () => say(breaker, 'neutral'));
  expect(breaker.state()).toBe('closed');
  await broken(breaker);
  expect(breaker.state()).toBe('open');
});

test('open: no call is made and the answer names the seconds until one may try', async () => {
  const breaker = breakerOf(60_000);
  await broken(breaker);
  let called = false;
  const refused = breaker.run(async () => {
    called = true;
    return 'ok' as const;
  }, classify);
  await expect(refused).rejects.toMatchObject({
    code: 'OP-TASK-BREAKER-OPEN',
    reason: 'breaker_open',
    retryAfterS: 60,
  });
  expect(called).toBe(false);
  expect(() => breaker.assertAccepting()).toThrow();
});

test('half-open: one call tries, the others are refused, and its success closes it', async () => {
  const breaker = breakerOf();
  await broken(breaker);
  await halfOpen(breaker);
  breaker.assertAccepting();
  const probe = held();
  const probing = breaker.run(probe.work, classify);
  await expect(say(breaker, 'ok')).rejects.toMatchObject({ code: 'OP-TASK-BREAKER-OPEN', retryAfterS: 1 });
  probe.release('ok');
  await probing;
  expect(breaker.state()).toBe('closed');
});

test('half-open: a failure opens it again', async () => {
  const breaker = breakerOf();
  await broken(breaker);
  await halfOpen(breaker);
  await say(breaker, 'fault');
  expect(breaker.state()).toBe('open');
});

test('half-open: a neutral outcome does not close it, and the next call may try', async () => {
  const breaker = breakerOf();
  await broken(breaker);
  await halfOpen(breaker);
  await say(breaker, 'neutral');
  expect(breaker.state()).toBe('half-open');
  await say(breaker, 'ok');
  expect(breaker.state()).toBe('closed');
});

test('a call that began before it opened does not close or re-open it later', async () => {
  const breaker = breakerOf();
  const [early, alsoEarly] = [held(), held()];
  const first = breaker.run(early.work, classify);
  const second = breaker.run(alsoEarly.work, classify);
  await broken(breaker);
  await halfOpen(breaker);
  early.release('ok');
  alsoEarly.release('fault');
  await Promise.all([first, second]);
  expect(breaker.state()).toBe('half-open');
});

test('refused calls do not keep it open: only calls that were made count', async () => {
  const breaker = breakerOf();
  await broken(breaker);
  await times(100, () => say(breaker, 'ok'));
  await halfOpen(breaker);
  await say(breaker, 'ok');
  await times(9, () => say(breaker, 'fault'));
  expect(breaker.state()).toBe('closed');
});

test('many calls at once are neither refused nor failures, also identical ones', async () => {
  const breaker = breakerOf();
  let made = 0;
  const calls = held();
  const work = () => {
    made += 1;
    return calls.work();
  };
  const running = Array.from({ length: 200 }, () => breaker.run(work, classify));
  expect(made).toBe(200);
  calls.release('ok');
  await Promise.all(running);
  expect(breaker.state()).toBe('closed');
});

test('it has no deadline of its own: a slow call is waited for, and counts by its outcome', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(60_000);
  const slow = held();
  let isOver = false;
  const running = breaker.run(slow.work, classify).finally(() => {
    isOver = true;
  });
  await jest.advanceTimersByTimeAsync(25_000);
  expect(isOver).toBe(false);
  slow.release('ok');
  expect(await running).toBe('ok');
});

test('the seconds until the next try are counted from the opening', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(60_000);
  await jest.advanceTimersByTimeAsync(45_000);
  await broken(breaker);
  await jest.advanceTimersByTimeAsync(20_000);
  await expect(say(breaker, 'ok')).rejects.toMatchObject({ retryAfterS: 40 });
  await jest.advanceTimersByTimeAsync(40_000);
  expect(breaker.state()).toBe('half-open');
});

test('a clock that is stepped back while it is open prolongs neither the wait nor the Retry-After of callers', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(5_000);
  await broken(breaker);
  jest.setSystemTime(Date.now() - 3_600_000);
  await expect(say(breaker, 'ok')).rejects.toMatchObject({ retryAfterS: 5 });
  await jest.advanceTimersByTimeAsync(5_000);
  expect(breaker.state()).toBe('half-open');
});

test('slow failures gather: the window is longer than a slow call', async () => {
  jest.useFakeTimers();
  const breaker = breakerOf(60_000);
  const calls = held();
  const running = Array.from({ length: 5 }, () => breaker.run(calls.work, classify).catch(() => undefined));
  await jest.advanceTimersByTimeAsync(20_000);
  calls.release('fault');
  await Promise.all(running);
  await jest.advanceTimersByTimeAsync(20_000);
  await times(5, () => say(breaker, 'fault'));
  expect(breaker.state()).toBe('open');
});

test('after the shutdown no timer is left to hold up the end of the process', async () => {
  jest.useFakeTimers();
  const breaker = createBreaker({ upstream: 'inference', operation: 'test', resetMs: 60_000 });
  await broken(breaker);
  expect(jest.getTimerCount()).toBeGreaterThan(0);
  breaker.shutdown();
  expect(jest.getTimerCount()).toBe(0);
});
