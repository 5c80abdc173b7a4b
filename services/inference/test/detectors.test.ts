import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { RAW_SCORES } from '@vision/contracts/calibration';
import { ConfigError } from '@vision/shared/config';
import { createLogger } from '@vision/shared/logger';
import { loadScenes } from '@vision/shared/scenes';
import sharp from 'sharp';
import { createDetectors } from '../src/detectors/detectors.ts';
import type { Detectors } from '../src/detectors/detectors.ts';
import type { RgbImage } from '../src/domain/rgb-image.ts';
import { drawnFlame } from './support/flames.ts';
import { street as streetPicture } from './support/images.ts';

// The detectors block all loaders of this process.
const unlockLoaders = () => sharp.unblock({ operation: ['VipsForeignLoad'] });
const run = promisify(execFile);
const scenes = loadScenes(new URL('../../../config/scenes.json', import.meta.url).pathname);
const model = new URL('../models/nanodet-416.onnx', import.meta.url).pathname;
const fireModel = new URL('../models/fire-352.onnx', import.meta.url).pathname;
const logger = createLogger('inference', 'silent');
const black = { width: 32, height: 32, data: new Uint8Array(32 * 32 * 3) };
async function pixelsOfFlame(): Promise<RgbImage> {
  unlockLoaders();
  const { data, info } = await (await drawnFlame()).raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

const options = { minScore: 0.3, labels: ['person'] };
let running: Detectors | undefined;
const directories: string[] = [];

afterEach(async () => {
  await running?.stop();
  running = undefined;
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function start(modelsDir: string, registry = scenes): Promise<Detectors> {
  running = createDetectors({ scenes: registry, modelsDir, threads: 2, logger });
  await running.start();
  return running;
}

function personsBy(detectors: Detectors) {
  const served = detectors.find('person_vehicle');
  if (!served) throw new Error('the scene is not served');
  return served.detector;
}

function mkdtempIn(): string {
  const directory = mkdtempSync(join(tmpdir(), 'models-'));
  directories.push(directory);
  return directory;
}

const directoryWith = (fill: (path: string) => void): string => {
  const directory = mkdtempIn();
  fill(join(directory, 'nanodet-416.onnx'));
  copyFileSync(fireModel, join(directory, 'fire-352.onnx'));
  return directory;
};

test('a missing model stops the start with the name of the file', async () => {
  const failure: unknown = await start('/nowhere').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect(String(failure)).toContain('nanodet-416.onnx');
});

test('a file that is no model stops the start', async () => {
  const directory = directoryWith((path) => writeFileSync(path, 'no model'));
  await expect(start(directory)).rejects.toBeInstanceOf(ConfigError);
});

test('enabled scenes are served, closed and unknown ones are not', async () => {
  const detectors = await start(directoryWith((path) => copyFileSync(model, path)));
  expect(personsBy(detectors).model).toBe('nanodet-416:2');
  expect(detectors.find('helmet')).toBeUndefined();
  expect(detectors.find('nowhere')).toBeUndefined();
  expect(await detectors.served()).toHaveLength(5);
});

test('an image of any size is accepted and many at once are all answered', async () => {
  const detectors = await start(directoryWith((path) => copyFileSync(model, path)));
  const detector = personsBy(detectors);
  const replies = await Promise.all(Array.from({ length: 8 }, () => detector.detect(black, options)));
  expect(replies).toEqual(Array(8).fill([]));
});

/** The street image scaled to this size. */
async function streetAs(width: number, height: number): Promise<RgbImage> {
  unlockLoaders();
  const picture = sharp(streetPicture).resize(width, height, { fit: 'fill', kernel: 'linear' }).removeAlpha();
  return { width, height, data: await picture.raw().toBuffer() };
}

test('the model gets an image in the shape that its scene wants', async () => {
  const squares = scenes.entries.map((scene) => ({ ...scene, input_shapes: [[416, 416] as [number, number]] }));
  const detectors = await start(
    directoryWith((path) => copyFileSync(model, path)),
    { ...scenes, entries: squares },
  );
  const detector = personsBy(detectors);
  expect(detector.fit({ width: 768, height: 576 })).toEqual({ width: 416, height: 416 });
  // The result of the published weights for the shape that they were trained with.
  const found = await detector.detect(await streetAs(416, 416), {
    ...options,
    calibration: RAW_SCORES,
    minScore: 0.75,
  });
  expect(found.map(({ score }) => Number(score.toFixed(2)))).toEqual([0.86, 0.85, 0.82, 0.79]);
});

test('the int8 model, which a registry may name instead, finds the same people', async () => {
  const entries = scenes.entries.map((scene) =>
    scene.detector === 'nanodet-416' ? { ...scene, detector: 'nanodet-416-int8' } : scene,
  );
  const [plain, other] = [await start(join(model, '..')), await start(join(model, '..'), { ...scenes, entries })];
  const picture = await streetAs(544, 416);
  const sure = { ...options, calibration: RAW_SCORES, minScore: 0.75 };
  const [expected, found] = [
    await personsBy(plain).detect(picture, sure),
    await personsBy(other).detect(picture, sure),
  ];
  await plain.stop();
  expect(personsBy(other).model).toBe('nanodet-416-int8:1');
  expect(found.map(({ bbox }) => bbox.cx.toFixed(1))).toEqual(expected.map(({ bbox }) => bbox.cx.toFixed(1)));
  const near = expected.map(({ score }): unknown => expect.closeTo(score, 1));
  expect(found.map(({ score }) => score)).toEqual(near);
});

test.each([
  [768, 576],
  [1280, 720],
  [600, 600],
  [450, 600],
])('an image of %d × %d keeps its objects where they are', async (width, height) => {
  const detector = personsBy(await start(directoryWith((path) => copyFileSync(model, path))));
  const found = await detector.detect(await streetAs(width, height), options);
  const nearest = found.find(({ bbox }) => Math.hypot(bbox.cx - 0.9, bbox.cy - 0.545) < 0.03);
  expect(nearest?.label).toBe('person');
});

test('the pixels that a caller gives away are moved to the thread, those that it keeps are not', async () => {
  const detector = personsBy(await start(join(model, '..')));
  const { data, ...size } = await streetAs(544, 416);
  const own = () => ({ ...size, data: Uint8Array.from(data) });
  const [kept, given] = [own(), own()];
  const found = await detector.detect(kept, options);
  expect(found.length).toBeGreaterThan(0);
  expect(await detector.detect(given, { ...options, givesPixels: true })).toEqual(found);
  expect([kept.data.byteLength, given.data.byteLength]).toEqual([544 * 416 * 3, 0]);
  // Memory of the library that decoded it, and of a larger image that has to be scaled.
  expect(await detector.detect({ ...size, data }, { ...options, givesPixels: true })).toEqual(found);
  expect(await detector.detect(await streetAs(768, 576), { ...options, givesPixels: true })).not.toEqual([]);
});

test('images of different shapes at once are each answered in their own', async () => {
  const detector = personsBy(await start(directoryWith((path) => copyFileSync(model, path))));
  const pictures = await Promise.all([streetAs(768, 576), streetAs(1280, 720), streetAs(405, 720)]);
  const alone = [];
  for (const picture of pictures) alone.push(await detector.detect(picture, options));
  const together = await Promise.all(pictures.map((picture) => detector.detect(picture, options)));
  expect(together).toEqual(alone);
  // The memory that tensors share contains no remains of them.
  expect(await detector.detect(black, options)).toEqual([]);
});

test('fire is found in a drawn flame, not in a screen full of orange', async () => {
  const detectors = await start(join(model, '..'));
  const detector = detectors.find('fire_smoke')?.detector;
  if (!detector) throw new Error('the scene is not served');
  const wanted = { minScore: 0.3, labels: ['fire'] };
  expect((await detector.detect(await pixelsOfFlame(), wanted)).map(({ label }) => label)).toContain('fire');
  const orange = {
    width: 64,
    height: 64,
    data: Uint8Array.from({ length: 64 * 64 * 3 }, (_, i) => [255, 120, 10][i % 3] ?? 0),
  };
  expect(await detector.detect(orange, wanted)).toEqual([]);
});

test('a caller that aborts before the turn of its image gets its own reason', async () => {
  const detectors = await start(directoryWith((path) => copyFileSync(model, path)));
  const detector = personsBy(detectors);
  const signal = AbortSignal.abort(new Error('client left'));
  await expect(detector.detect(black, { ...options, signal })).rejects.toThrow('client left');
});

test('after the stop images are refused as a fault of the backend', async () => {
  const detectors = await start(directoryWith((path) => copyFileSync(model, path)));
  await detectors.stop();
  const detector = personsBy(detectors);
  await expect(detector.detect(black, options)).rejects.toMatchObject({
    kind: 'unavailable',
    reason: 'detector_lost',
  });
  expect(detectors.isAlive()).toBe(false);
});

test('a stop lets through what the threads are detecting and refuses the rest', async () => {
  const detectors = await start(directoryWith((path) => copyFileSync(model, path)));
  const detector = personsBy(detectors);
  const outcomes = Array.from({ length: 12 }, () =>
    detector.detect(black, options).then(
      () => 'detected',
      (error: unknown) => (error as { reason?: string }).reason,
    ),
  );
  await outcomes[0];
  await detectors.stop();
  for (const outcome of await Promise.all(outcomes))
    expect(['detected', 'stopping', 'detector_lost']).toContain(outcome);
  expect(await outcomes[0]).toBe('detected');
});

test('loading a model leaves no file open that a program started later would inherit', async () => {
  const script = new URL('./fixtures/inherited-files.ts', import.meta.url).pathname;
  const env = { PATH: process.env['PATH'] };
  const { stdout } = await run(process.execPath, ['--conditions=@vision/source', script], { env });
  expect(JSON.parse(stdout)).toEqual([]);
});
