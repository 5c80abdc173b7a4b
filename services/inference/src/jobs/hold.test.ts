import { expect, jest, test } from '@jest/globals';
import { createHold } from './hold.ts';

const inMs = (ms: number) => performance.now() + ms;
/** Keeps the process from doing anything else, as a freeze does. */
const freeze = (ms: number) => {
  const until = inMs(ms);
  while (performance.now() < until);
};

test('a hold that is not renewed ends by itself, once', async () => {
  const ended = Promise.withResolvers<void>();
  const onExpired = jest.fn(ended.resolve);
  const hold = createHold({ untilMs: inMs(20), onExpired });
  expect(hold.isLost()).toBe(false);
  await ended.promise;
  expect([hold.isLost(), hold.reading.aborted, hold.publishing.aborted]).toEqual([true, true, true]);
  hold.check();
  expect(onExpired).toHaveBeenCalledTimes(1);
});

test('after a freeze the hold is over before any timer could say so', () => {
  const hold = createHold({ untilMs: inMs(5), onExpired: () => undefined });
  freeze(10);
  expect(hold.publishing.aborted).toBe(false);
  hold.check();
  expect(hold.publishing.aborted).toBe(true);
});

test('a renewal whose answer comes too late does not bring the hold back', () => {
  const hold = createHold({ untilMs: inMs(5), onExpired: () => undefined });
  freeze(10);
  hold.renewed(inMs(60_000));
  expect(hold.isLost()).toBe(true);
});

test('renewals carry a hold on, and never shorten it', () => {
  // A clock of its own: a busy machine may take longer between two lines than a short hold lasts.
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const hold = createHold({ untilMs: 5, onExpired: () => undefined });
  hold.renewed(60_000);
  hold.renewed(1);
  clock.mockReturnValue(59_999);
  hold.check();
  expect(hold.isLost()).toBe(false);
  clock.mockReturnValue(60_000);
  hold.check();
  expect(hold.isLost()).toBe(true);
  clock.mockRestore();
});
