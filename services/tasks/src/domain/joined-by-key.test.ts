import { expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { joinedByKey } from './joined-by-key.ts';

/** Work whose runs the test resolves; records each run and its key. */
function heldWork() {
  const runs: (PromiseWithResolvers<number> & { key: string })[] = [];
  const work = joinedByKey((key: string) => {
    const run = { ...Promise.withResolvers<number>(), key };
    runs.push(run);
    return run.promise;
  });
  return { runs, work };
}

test('a single call runs at once, and the next one runs again', async () => {
  const { runs, work } = heldWork();
  const first = work('a');
  runs[0]?.resolve(1);
  expect(await first).toBe(1);
  const second = work('a');
  runs[1]?.resolve(2);
  expect(await second).toBe(2);
});

test('callers during a run share one further run, which begins when the first has ended', async () => {
  const { runs, work } = heldWork();
  const first = work('a');
  const others = Array.from({ length: 100 }, () => work('a'));
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  expect(await first).toBe(1);
  await until(() => runs.length === 2);
  runs[1]?.resolve(2);
  expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
});

test('a caller during the further run gets a later run', async () => {
  const { runs, work } = heldWork();
  void work('a');
  const second = work('a');
  runs[0]?.resolve(1);
  await until(() => runs.length === 2);
  const third = work('a');
  runs[1]?.resolve(2);
  expect(await second).toBe(2);
  await until(() => runs.length === 3);
  runs[2]?.resolve(3);
  expect(await third).toBe(3);
});

test('keys do not wait for each other', async () => {
  const { runs, work } = heldWork();
  void work('a');
  const other = work('b');
  expect(runs.map(({ key }) => key)).toEqual(['a', 'b']);
  runs[1]?.resolve(2);
  expect(await other).toBe(2);
});

test('the callers of a run receive its failure, and callers of the next run do not', async () => {
  const { runs, work } = heldWork();
  const first = work('a');
  const second = work('a');
  runs[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await until(() => runs.length === 2);
  runs[1]?.resolve(2);
  expect(await second).toBe(2);
});
