import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createTokenSource } from './token-source.ts';

const quiet = () => undefined;
const LIFE_MS = 60_000;
let given = 0;
const give = async () => {
  given += 1;
  return { value: `token-${given}`, lifeMs: LIFE_MS };
};

beforeEach(() => {
  given = 0;
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => void jest.useRealTimers());

test('a token that is used is renewed at 80 % of its life', async () => {
  const tokens = createTokenSource(give);
  await tokens.get(quiet);
  await jest.advanceTimersByTimeAsync(0.8 * LIFE_MS - 1);
  expect([await tokens.get(quiet), given]).toEqual(['token-1', 1]);
  await jest.advanceTimersByTimeAsync(1);
  expect(given).toBe(2);
  expect(await tokens.get(quiet)).toBe('token-2');
});

test('a token that is not used is not renewed again', async () => {
  const tokens = createTokenSource(give);
  await tokens.get(quiet);
  await jest.advanceTimersByTimeAsync(3 * LIFE_MS);
  expect(given).toBe(2);
  expect(await tokens.get(quiet)).toBe('token-3');
  await jest.advanceTimersByTimeAsync(0.8 * LIFE_MS);
  expect(given).toBe(4);
});
