import { expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import { retryUntil } from './retry-until.ts';

const { signal } = new AbortController();

/** Work that fails with each of the errors in turn and then succeeds. */
function failing(...errors: Error[]) {
  const left = [...errors];
  return () => {
    const error = left.shift();
    return error ? Promise.reject(error) : Promise.resolve('done');
  };
}

test('an outage is waited out, in every form of its error', async () => {
  const away = fail.sysUnavailable('database_unavailable');
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(await retryUntil(failing(away, refused), { signal })).toBe('done');
});

test('another failure is thrown at once', async () => {
  let tries = 0;
  const work = () => {
    tries += 1;
    return Promise.reject(new Error('a fault'));
  };
  await expect(retryUntil(work, { signal })).rejects.toThrow('a fault');
  expect(tries).toBe(1);
});

test('the caller may decide which failures are worth another try, and how long to wait', async () => {
  const seen: number[] = [];
  const waited: number[] = [];
  const options = {
    signal,
    pauseAfter: (_error: unknown, failures: number) => {
      seen.push(failures);
      return failures < 3 ? failures * 10 : undefined;
    },
    pause: (ms: number) => Promise.resolve(void waited.push(ms)),
  };
  await expect(retryUntil(failing(new Error('1'), new Error('2'), new Error('3')), options)).rejects.toThrow('3');
  expect(seen).toEqual([1, 2, 3]);
  expect(waited).toEqual([10, 20]);
});

test('an abort ends the pause with its reason, and no further try is made', async () => {
  const stop = new AbortController();
  let tries = 0;
  const work = () => {
    tries += 1;
    return Promise.reject(new Error('no'));
  };
  const pauseAfter = () => {
    setImmediate(() => stop.abort(new Error('stopping')));
    return 3_600_000;
  };
  await expect(retryUntil(work, { signal: stop.signal, pauseAfter })).rejects.toThrow('stopping');
  await expect(retryUntil(work, { signal: stop.signal })).rejects.toThrow('stopping');
  expect(tries).toBe(1);
});
