import { expect, test } from '@jest/globals';
import { createBudget, systemClock } from '@vision/streams/budget';
import { MAX_FACT_BYTES } from './messages.ts';
import type { Fact } from './messages.ts';

test('what a connection has used fits into one fact', () => {
  const at = 10 * 365 * 86_400_000;
  const slowed = Array.from({ length: 25 }, (_, n) => [at / 5_000 - n, 2_000] as const);
  const { signal } = new AbortController();
  const clock = { ...systemClock(signal), now: () => at };
  const budget = createBudget({ usage: { bytesPaidAt: at, partsPaidAt: at, slowed }, signal, clock });
  const fact: Fact = { kind: 'ended', reason: 'codec_unsupported', isFinished: false, usage: budget.usage() };
  expect(JSON.stringify(fact).length).toBeLessThan(MAX_FACT_BYTES);
});
