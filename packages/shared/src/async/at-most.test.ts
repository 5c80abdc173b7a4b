import { expect, test } from '@jest/globals';
import { atMost } from './at-most.ts';

test('work that ends in time is waited for, and its failure is passed on', async () => {
  let isDone = false;
  const work = async () => {
    await Promise.resolve();
    isDone = true;
  };
  expect(await atMost(60_000, work())).toBe(true);
  expect(isDone).toBe(true);
  await expect(atMost(60_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('work that hangs is not waited for, and its later failure has no effect', async () => {
  const work = Promise.withResolvers<void>();
  expect(await atMost(10, work.promise)).toBe(false);
  work.reject(new Error('late'));
});
