import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { loadScenes } from '@vision/shared/scenes';
import { createDetectors } from '../src/detectors/detectors.ts';
import { readFileFrames } from '../src/decoding/file-frames.ts';
import { decodeLimits } from '../src/domain/file-budget.ts';
import { UPRIGHT } from '../src/domain/mp4/turn.ts';
import { createTracker } from '../src/tracking/tracker.ts';
import { sandbox } from './support/sandbox.ts';

const path = (relative: string) => new URL(relative, import.meta.url).pathname;

/**
 * Positions of six people in the street clip at some times, read from the frames by eye: milliseconds:x,y of the centre
 * in pixels. The first three stand together behind a sign for most of the clip, the others cross the frame.
 */
const PEOPLE: Record<string, string> = {
  blackCoat:
    '1600:503,279 2200:445,276 4200:452,224 4800:453,214 6200:362,205 ' +
    '8000:273,208 9600:338,232 10200:375,239 11200:454,246 11800:506,252',
  greyJacket:
    '1600:362,241 2600:393,224 3800:417,225 4400:418,221 5000:429,224 ' +
    '6200:403,223 7000:428,232 7800:428,231 11400:429,231',
  brownJacket:
    '1600:456,212 3800:392,221 4400:395,220 5000:387,221 5400:388,220 ' +
    '6600:387,221 8000:387,221 9600:397,218 11200:385,217',
  redSleeves: '1600:738,338 3000:647,302 5000:522,262 6600:468,238 7200:459,228 9000:475,198 11200:544,171',
  fairHair: '2400:713,313 5000:570,260 7000:492,231 9000:502,199 11200:569,174',
  jeans: '4600:723,327 7000:604,259 9000:583,216 11200:637,179',
};

test('people in the street clip keep their tracks, except those who stand behind the sign', async () => {
  const scenes = loadScenes(path('../../../config/scenes.json'));
  const logger = pino({ level: 'silent' });
  const detectors = createDetectors({
    scenes,
    modelsDir: path('../models'),
    threads: 1,
    logger,
  });
  await detectors.start();
  const served = detectors.find('person_vehicle');
  if (!served) throw new Error('the scene is not served');
  const image = { width: 768, height: 576 };
  const options = { minScore: served.scene.lower_bound, labels: served.scene.labels };
  const tracker = createTracker('a1');
  const people = new Map<number, { id: string; x: number; y: number }[]>();
  const frames = readFileFrames(path('../../../examples/street.mp4'), {
    sampling: { fps: 5, scaled: served.detector.fit(image), turn: UPRIGHT, hasEdits: true },
    sandbox,
    image,
    limits: decodeLimits(12_000),
    noFrameMs: 200_000,
    killGraceMs: 3000,
    signal: new AbortController().signal,
  });
  for await (const { timeMs, pixels } of frames) {
    const tracked = tracker.update(timeMs, await served.detector.detect(pixels, options), image.width / image.height);
    const found = tracked.filter(({ label }) => label === 'person');
    people.set(
      timeMs,
      found.map(({ track_id: id, bbox }) => ({ id, x: bbox.cx * 768, y: bbox.cy * 576 })),
    );
  }
  await detectors.stop();

  const idAt = (moment: string) => {
    const [timeMs = 0, x = 0, y = 0] = moment.split(/[:,]/).map(Number);
    return people.get(timeMs)?.find((person) => Math.hypot(person.x - x, person.y - y) < 6)?.id;
  };
  const switches = Object.fromEntries(
    Object.entries(PEOPLE).map(([name, moments]) => {
      const ids = moments
        .split(' ')
        .map(idAt)
        .filter((id) => id !== undefined);
      return [name, ids.filter((id, index) => index > 0 && id !== ids[index - 1]).length];
    }),
  );
  expect(switches).toMatchObject({ redSleeves: 0, fairHair: 0, jeans: 0 });
  expect(Object.values(switches).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(7);
});
