import { expect, test } from '@jest/globals';
import { createFreshest } from './freshest.ts';

test('a slow reader gets the newest and the rest is counted', async () => {
  const box = createFreshest<number>();
  [1, 2, 3].forEach((item) => box.put(item));
  expect(await box.take()).toBe(3);
  expect(box.dropped()).toBe(2);
});

test('a waiting reader is woken by the next item, then by the end', async () => {
  const box = createFreshest<number>();
  const first = box.take();
  box.put(7);
  expect(await first).toBe(7);
  const second = box.take();
  box.end();
  expect(await second).toBeUndefined();
});

test('an error reaches the reader after the last item', async () => {
  const box = createFreshest<number>();
  box.put(1);
  box.end(new Error('lost'));
  expect(await box.take()).toBe(1);
  await expect(box.take()).rejects.toThrow('lost');
});
