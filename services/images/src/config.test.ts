import { expect, test } from '@jest/globals';
import { configSchema, constants } from './config.ts';

test('a client that repeats a call whose process died gets its result: the wait for a key is longer than the lease', () => {
  const defaults = {
    lease: constants.LEASE_MS,
    wait: constants.KEY_WAIT_MS,
  };
  expect(defaults.lease).toBeLessThan(defaults.wait - 1_000);
  // The lease is renewed every third of its time, so a process that is busy for a while keeps it.
  expect(defaults.lease).toBeGreaterThanOrEqual(9_000);
});

test('the work on a call has ended, and its result is stored, before the gateway gives the call up', () => {
  const work = configSchema.shape.CALL_TIMEOUT_MS.parse(undefined);
  expect(work).toBeGreaterThan(configSchema.shape.DETECT_TIMEOUT_MS.parse(undefined));
  // UPSTREAM_IDLE_MS of the gateway is 120 s.
  expect(work).toBeLessThanOrEqual(120_000 - 20_000);
});
