import { expect, test } from '@jest/globals';
import { createFrameNumbers } from './frame-numbers.ts';
import type { FrameNumbersOptions } from './frame-numbers.ts';

const { signal } = new AbortController();
const numbers = (options: Partial<FrameNumbersOptions>) =>
  createFrameNumbers({
    first: 100,
    ceiling: 104,
    step: 4,
    waitMs: 5,
    raise: () => Promise.reject(new Error('away')),
    onExhausted: () => undefined,
    signal,
    ...options,
  });

async function take(from: ReturnType<typeof numbers>, count: number) {
  const taken: (number | undefined)[] = [];
  while (taken.length < count) taken.push(await from.next());
  return taken;
}

test('without a confirmation no number at or above the ceiling is given out', async () => {
  let exhausted = 0;
  const ended = new AbortController();
  const source = numbers({ onExhausted: () => (exhausted += 1), signal: ended.signal });
  expect(await take(source, 7)).toEqual([100, 101, 102, 103, undefined, undefined, undefined]);
  expect(exhausted).toBe(1);
  ended.abort();
});

test('more numbers are requested before they run out, so no frame waits', async () => {
  const asked: number[] = [];
  const raise = (ceiling: number) => {
    asked.push(ceiling);
    return Promise.resolve(ceiling);
  };
  expect(await take(numbers({ raise }), 9)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108]);
  expect(asked).toEqual([108, 112]);
});

test('a late confirmation is waited for, and numbers go on without a gap', async () => {
  const confirmed = Promise.withResolvers<number>();
  const source = numbers({ raise: () => confirmed.promise, waitMs: 60_000 });
  await take(source, 4);
  const next = source.next();
  confirmed.resolve(108);
  expect(await next).toBe(104);
});

test('a job that another attempt has gets no more numbers', async () => {
  expect(await take(numbers({ raise: () => Promise.resolve(undefined) }), 5)).toEqual([100, 101, 102, 103, undefined]);
});
