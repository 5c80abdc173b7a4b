import { expect, test } from '@jest/globals';
import { createBell } from './bell.ts';

const HOUR_MS = 3_600_000;

test('a ring ends the wait', async () => {
  const bell = createBell();
  const waiting = bell.wait(HOUR_MS);
  bell.ring();
  await waiting;
});

test('a ring without a waiter ends the next wait, once', async () => {
  const bell = createBell();
  bell.ring();
  bell.ring();
  await bell.wait(HOUR_MS);
  let isOver = false;
  const second = bell.wait(HOUR_MS).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  bell.ring();
  await second;
});

test('without a ring the wait ends by itself', async () => {
  await createBell().wait(5);
});
