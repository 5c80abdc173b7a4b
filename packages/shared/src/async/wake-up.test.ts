import { expect, test } from '@jest/globals';
import { createWakeUp } from './wake-up.ts';

const HOUR_MS = 3_600_000;

test('a wake ends the wait', async () => {
  const wakeUp = createWakeUp();
  const waiting = wakeUp.wait(HOUR_MS);
  wakeUp.wake();
  await waiting;
});

test('a wake while no loop waits ends the next wait, once', async () => {
  const wakeUp = createWakeUp();
  wakeUp.wake();
  wakeUp.wake();
  await wakeUp.wait(HOUR_MS);
  let isOver = false;
  const second = wakeUp.wait(HOUR_MS).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  wakeUp.wake();
  await second;
});

test('without a wake the wait ends by itself', async () => {
  await createWakeUp().wait(5);
});
