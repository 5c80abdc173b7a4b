import { expect, test } from '@jest/globals';
import { createBatches } from './batches.ts';

/** Batches that take until the next iteration of the event loop, and their items; one with a 13 fails. */
function tensOf(most = 10) {
  const runs: number[][] = [];
  const { add } = createBatches<number, number>({
    most,
    run: async (items) => {
      runs.push(items);
      await new Promise(setImmediate);
      if (items.includes(13)) throw new Error('away');
      return items.map((item) => item * 10);
    },
  });
  return { add, runs };
}

test('an item alone runs at once, and items that are added in the meantime run together', async () => {
  const { add, runs } = tensOf();
  const all = [1, 2, 3].map(add);
  expect(runs).toEqual([[1]]);
  expect(await Promise.all(all)).toEqual([10, 20, 30]);
  expect(runs).toEqual([[1], [2, 3]]);
  expect(await add(4)).toBe(40);
  expect(runs.at(-1)).toEqual([4]);
});

test('a batch has at most its maximum number of items', async () => {
  const { add, runs } = tensOf(2);
  await Promise.all([1, 2, 3, 4].map(add));
  expect(runs).toEqual([[1], [2, 3], [4]]);
});

test('a batch that fails rejects its own items and no others', async () => {
  const { add } = tensOf(2);
  const ended = await Promise.allSettled([1, 2, 13, 4, 5].map(add));
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled', 'fulfilled']);
});
