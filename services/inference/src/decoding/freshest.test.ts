import { expect, test } from '@jest/globals';
import { createFreshest } from './freshest.ts';

test('a slow reader gets the newest and the rest is counted', async () => {
  const box = createFreshest<number>({ overdueMs: 150 });
  [1, 2, 3].forEach((item) => box.put(item));
  expect(await box.take()).toBe(3);
  expect(box.dropped()).toBe(2);
});

test('a waiting reader is woken by the next item, then by the end', async () => {
  const box = createFreshest<number>({ overdueMs: 150 });
  const first = box.take();
  box.put(7);
  expect(await first).toBe(7);
  const second = box.take();
  box.end();
  expect(await second).toBeUndefined();
});

test('an error reaches the reader after the last item', async () => {
  const box = createFreshest<number>({ overdueMs: 150 });
  box.put(1);
  box.end(new Error('lost'));
  expect(await box.take()).toBe(1);
  await expect(box.take()).rejects.toThrow('lost');
});

test('items that come at once are dropped, and only those that waited are overdue', () => {
  let nowMs = 0;
  const box = createFreshest<number>({ overdueMs: 150, now: () => nowMs });
  for (const at of [0, 10, 20, 220, 420, 425]) {
    nowMs = at;
    box.put(at);
  }
  expect([box.dropped(), box.overdue()]).toEqual([5, 2]);
});
