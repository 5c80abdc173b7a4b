import { expect, test } from '@jest/globals';
import { unlessAborted } from './unless-aborted.ts';

test('work that ends before the signal fires gives its own outcome', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(signal, Promise.resolve('done'))).toBe('done');
  await expect(unlessAborted(signal, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('the reason of the signal ends the wait, and a later failure of the work has no effect', async () => {
  const stop = new AbortController();
  const work = Promise.withResolvers<void>();
  const waiting = unlessAborted(stop.signal, work.promise);
  stop.abort(new Error('given up'));
  await expect(waiting).rejects.toThrow('given up');
  await expect(unlessAborted(stop.signal, work.promise)).rejects.toThrow('given up');
  work.reject(new Error('late'));
  await expect(unlessAborted(stop.signal, Promise.resolve('done'))).rejects.toThrow('given up');
});
