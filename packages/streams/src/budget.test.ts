import { expect, test } from '@jest/globals';
import { createBudget } from './budget.ts';
import type { Budget, BudgetUsage } from './budget.ts';

/** A budget whose clock moves when it waits; `at` is its time. */
function simulated(usage?: BudgetUsage, startMs = 1_000_000) {
  const time = { at: startMs };
  const clock = {
    now: () => time.at,
    wait: async (ms: number) => {
      time.at += ms;
    },
  };
  return { time, budget: createBudget({ usage, signal: new AbortController().signal, clock }) };
}

/** How long it takes to read so much, a little at a time, from a sender that always has more. */
async function takenMs(read: { bytes?: number; parts?: number }, times: number): Promise<number> {
  const { time, budget } = simulated();
  const startedAt = time.at;
  for (let n = 0; n < times; n += 1) {
    budget.spend(read);
    await budget.ready();
  }
  return time.at - startedAt;
}

test.each([
  ['32 MB come at once', { bytes: 65_536 }, 488, 0],
  ['of bytes beyond them, 8 MB come in a second', { bytes: 64_000 }, 500 + 10 * 125, 10_000],
  ['40,000 parts come at once', { parts: 100 }, 400, 0],
  ['of parts beyond them, 10,000 come in a second', { parts: 100 }, 400 + 10 * 100, 10_000],
])('%s', async (_name, read, times, expectedMs) => {
  const ms = await takenMs(read, times);
  expect(ms).toBeGreaterThanOrEqual(expectedMs);
  expect(ms).toBeLessThanOrEqual(expectedMs + 25);
});

/** Reads at a constant rate for some time; the clock moves on between reads. */
async function play({ time, budget }: ReturnType<typeof simulated>, bytesPerS: number, seconds: number): Promise<void> {
  const until = time.at + seconds * 1000;
  while (time.at < until) {
    const sentAt = time.at;
    budget.spend({ bytes: bytesPerS / 10 });
    await budget.ready();
    time.at = Math.max(time.at, sentAt + 100);
  }
}

test('a stream below the rate is never slowed, however long it plays', async () => {
  const stream = simulated();
  await play(stream, 7_900_000, 3600);
  expect(stream.budget.usage().slowed).toEqual([]);
});

/** For how long a flood is read until it fails. */
async function floodMs({ time, budget }: { time: { at: number }; budget: Budget }): Promise<number> {
  const startedAt = time.at;
  for (;;) {
    budget.spend({ bytes: 800_000 });
    try {
      await budget.ready();
    } catch (error) {
      expect(error).toMatchObject({ reason: 'too_much_data' });
      return time.at - startedAt;
    }
  }
}

test('a stream that is slowed for a minute without a pause has too much data', async () => {
  const ms = await floodMs(simulated());
  expect(ms).toBeGreaterThan(59_000);
  expect(ms).toBeLessThanOrEqual(60_000);
});

test('a stream that is slowed for less than half of the time plays on', async () => {
  const stream = simulated();
  for (let minute = 0; minute < 30; minute += 1) {
    // 32 MB at once and 160 MB in twenty seconds, then nothing for forty.
    const startedAt = stream.time.at;
    for (let n = 0; n < 240; n += 1) {
      stream.budget.spend({ bytes: 800_000 });
      await stream.budget.ready();
    }
    stream.time.at = startedAt + 60_000;
  }
  expect(stream.budget.usage().slowed.length).toBeGreaterThan(0);
});

test('the next connection of a stream goes on with what the last one left', async () => {
  const first = simulated();
  first.budget.spend({ bytes: 32_000_000 });
  await play(first, 16_000_000, 50);
  const usage = JSON.parse(JSON.stringify(first.budget.usage())) as BudgetUsage;
  const ms = await floodMs(simulated(usage, first.time.at));
  expect(ms).toBeGreaterThan(9_000);
  expect(ms).toBeLessThanOrEqual(11_000);
});

test('of an absurd debt no more is waited than of any other', async () => {
  const stream = simulated({ bytesPaidAt: 0, partsPaidAt: Number.MAX_SAFE_INTEGER, slowed: [] });
  expect(await floodMs(stream)).toBeLessThanOrEqual(60_000);
});
