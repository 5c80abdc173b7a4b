import { expect, test } from '@jest/globals';
import { createSlots } from './slots.ts';

test('at most as many as there are slots run at once, the others follow in order', async () => {
  const slots = createSlots(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  await Promise.all(
    [0, 1, 2, 3, 4].map((name) =>
      slots.run(async () => {
        started.push(name);
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
      }),
    ),
  );
  expect(started).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
});

test('failed work gives its slot back', async () => {
  const slots = createSlots(1);
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(() => Promise.resolve('yes'))).toBe('yes');
});
