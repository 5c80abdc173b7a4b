import { expect, jest, test } from '@jest/globals';
import type { FrameData } from '@vision/shared/contracts/frame-events';
import { createFramePublisher } from './frame-publisher.ts';
import { createHold } from './hold.ts';

const frame: FrameData = {
  job_id: '018f5c1e-0000-7000-8000-000000000000',
  attempt: 1,
  seq: 0,
  frame_time_ms: 0,
  image: { width: 2, height: 2 },
  objects: [],
};
/** Keeps the process from doing anything else, as a freeze does. */
const freeze = (ms: number) => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('after a freeze that outlasts the hold nothing is published, although no timer has come yet', async () => {
  const hold = createHold({ untilMs: performance.now() + 5, onExpired: () => undefined });
  const publishBatch = jest.fn(() => Promise.resolve());
  const onAcknowledged = () => undefined;
  const publisher = createFramePublisher({ producer: { publishBatch }, partition: 0, hold, onAcknowledged });
  freeze(10);
  await publisher.add(frame).catch(() => undefined);
  await expect(publisher.flush()).rejects.toThrow();
  expect(publishBatch).not.toHaveBeenCalled();
  expect(publisher.waiting()).toBe(1);
});
