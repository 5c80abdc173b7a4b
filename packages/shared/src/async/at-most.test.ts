import { expect, test } from '@jest/globals';
import { atMost } from './at-most.ts';

test('work that ends in time is waited for, and its failure is told', async () => {
  let isDone = false;
  const work = async () => {
    await Promise.resolve();
    isDone = true;
  };
  await atMost(60_000, work());
  expect(isDone).toBe(true);
  await expect(atMost(60_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('work that hangs is not waited for, and a failure of it later disturbs nobody', async () => {
  let failLater: (error: Error) => void = () => undefined;
  const work = new Promise((_resolve, reject) => {
    failLater = reject;
  });
  await atMost(10, work);
  failLater(new Error('late'));
});
