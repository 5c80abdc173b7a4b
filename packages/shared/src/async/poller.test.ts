import { expect, test } from '@jest/globals';
import { createLogger } from '../logger.ts';
import { createWakeUp } from './wake-up.ts';
import { createPoller } from './poller.ts';

const logger = createLogger('test', 'silent');
const HOUR_MS = 3_600_000;

test('a poller does nothing before its start, and a stop without a start ends at once', async () => {
  let rounds = 0;
  const poller = createPoller({
    name: 'test',
    intervalMs: HOUR_MS,
    logger,
    run: () => Promise.resolve((rounds += 1)),
  });
  await poller.stop();
  poller.start();
  expect(rounds).toBe(0);
});

test('a round can wake the poller that runs it with a wake-up made before', async () => {
  const wakeUp = createWakeUp();
  const second = Promise.withResolvers<void>();
  let rounds = 0;
  const poller = createPoller({
    name: 'test',
    intervalMs: HOUR_MS,
    logger,
    wakeUp,
    run: () => {
      rounds += 1;
      if (rounds === 1) wakeUp.wake();
      else second.resolve();
      return Promise.resolve(0);
    },
  });
  poller.start();
  await second.promise;
  await poller.stop();
  expect(rounds).toBe(2);
});
