import { expect, test } from '@jest/globals';
import { createAnswerTime, MAX_QUESTION_MS, questionLimitMs } from './answer-time.ts';

test('queries and submission of one create request share one timeout', async () => {
  let clock = 0;
  const time = createAnswerTime(6_000, () => clock);
  await time.spend(async () => (clock += 300));
  expect(time.leftMs()).toBe(5_700);
  await expect(
    time.spend(async () => {
      clock += 200;
      throw new Error('no connection');
    }),
  ).rejects.toThrow('no connection');
  expect(time.leftMs()).toBe(5_500);
});

test.each([900, 5_000, 6_000, 60_000])('two late answers leave a third of %i ms for the submission', async (whole) => {
  let clock = 0;
  const time = createAnswerTime(whole, () => clock);
  for (const late of [1, 2]) await time.spend(async () => (clock += late * whole));
  expect(time.leftMs()).toBeGreaterThanOrEqual(Math.floor(whole / 3));
  expect(questionLimitMs(whole)).toBeLessThanOrEqual(MAX_QUESTION_MS);
});
