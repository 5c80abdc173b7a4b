import { expect, test } from '@jest/globals';
import { FrameWindow } from './frame-window.ts';

const LONG_AFTER_MS = 60_000;
/** Loads of these tests end as soon as nothing else is to be done. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

/** A window on a task that has ended; `fails` decides about the next load of each time. */
function open(fails: (fromMs: number) => boolean, failure: Error = new TypeError('no connection')) {
  const asked: number[] = [];
  const problems: unknown[] = [];
  const frames = new FrameWindow({
    load: async (fromMs) => {
      asked.push(fromMs);
      if (fails(fromMs)) throw failure;
      return Promise.resolve([{ frame_time_ms: fromMs, objects: [] }]);
    },
    isFinal: () => true,
    onChange: () => undefined,
    onProblem: (error) => problems.push(error),
  });
  return { frames, asked, problems };
}

test('frames that could not be loaded are loaded again after a while, and then nothing is missing', async () => {
  let isDown = true;
  const { frames, asked, problems } = open((fromMs) => isDown && fromMs === 30_000);
  frames.around(0);
  await settled();
  expect([frames.hasFailedAround(0), problems.length]).toEqual([true, 1]);
  isDown = false;
  frames.around(0);
  expect(asked).toEqual([0, 30_000]);
  frames.around(0, performance.now() + LONG_AFTER_MS);
  await settled();
  expect(asked).toEqual([0, 30_000, 30_000]);
  expect([frames.hasFailedAround(0), problems.length]).toEqual([false, 1]);
  expect(frames.around(0).map(({ frame_time_ms: at }) => at)).toEqual([0, 30_000]);
});

test('frames that the service refuses are asked for once', async () => {
  const { frames, asked, problems } = open((fromMs) => fromMs === 0, new Error('refused'));
  frames.around(0);
  await settled();
  frames.around(0, performance.now() + LONG_AFTER_MS);
  await settled();
  expect(asked).toEqual([0, 30_000]);
  expect([frames.hasFailedAround(0), problems.length]).toEqual([true, 1]);
});

test('what is missing far away is no trouble of the position', async () => {
  const { frames } = open((fromMs) => fromMs === 0);
  frames.around(0);
  await settled();
  expect(frames.hasFailedAround(0)).toBe(true);
  frames.around(300_000);
  await settled();
  expect(frames.hasFailedAround(300_000)).toBe(false);
});
