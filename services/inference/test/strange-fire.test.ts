import { expect, test } from '@jest/globals';
import { detection } from '@vision/contracts/inference';
import { loadScenes } from '@vision/shared/scenes';
import sharp from 'sharp';
import type { Sharp } from 'sharp';
import { drawnFlame } from './support/flames.ts';
import { street } from './support/images.ts';
import { useInference } from './support/service.ts';

// The service shuts all loaders of its process, which is that of this test as well.
sharp.unblock({ operation: ['VipsForeignLoad'] });

const service = useInference();
const exampleFire = new URL('../../../examples/fire.jpg', import.meta.url).pathname;
const fireScene = loadScenes(new URL('../../../config/scenes.json', import.meta.url).pathname).findEnabled(
  'fire_smoke',
);

/** The best score of each label in this image, of every box that the scene publishes. */
async function scoresIn(image: Sharp): Promise<{ fire: number; smoke: number }> {
  const body = new Uint8Array(await image.jpeg({ quality: 90 }).toBuffer());
  const reply = await fetch(`${service.base}/v1/detect?scene_code=fire_smoke`, { method: 'POST', body });
  expect(reply.status).toBe(200);
  const { objects } = detection.parse(await reply.json());
  for (const { label, score, bbox } of objects) {
    expect(['fire', 'smoke']).toContain(label);
    expect(score).toBeGreaterThanOrEqual(fireScene?.lower_bound ?? 1);
    expect(bbox.width * bbox.height).toBeGreaterThan(0);
  }
  const bestOf = (wanted: string) =>
    Math.max(0, ...objects.filter(({ label }) => label === wanted).map(({ score }) => score));
  return { fire: bestOf('fire'), smoke: bestOf('smoke') };
}

const plain = (background: string, width = 416, height = 416): Sharp =>
  sharp({ create: { width, height, channels: 3, background } });

const stretched = async (width: number, height: number): Promise<Sharp> =>
  (await drawnFlame()).resize(width, height, { fit: 'fill' });

/** The flame in the middle of something else, a quarter as wide and high. */
const hungOn = async (behind: Sharp): Promise<Sharp> => {
  const small = (await drawnFlame()).resize(160, 160);
  const poster = small.extend({ top: 6, bottom: 6, left: 6, right: 6, background: '#fff' });
  return behind.composite([{ input: await poster.png().toBuffer(), gravity: 'centre' }]);
};

const infrared = async (): Promise<Sharp> =>
  (await drawnFlame()).greyscale().negate().linear(0.5, 0).toColourspace('srgb');

test.each<[string, () => Sharp | Promise<Sharp>]>([
  ['in colour', drawnFlame],
  ['in the example', () => sharp(exampleFire)],
  ['of 64 × 64 pixels', () => stretched(64, 64)],
])('a flame %s shows fire', async (_name, image) => {
  expect((await scoresIn(await image())).fire).toBeGreaterThan(0.5);
});

test.each<[string, () => Sharp | Promise<Sharp>]>([
  ['a flame of 8,000 × 200 pixels', () => stretched(8000, 200)],
  ['a flame of 200 × 8,000 pixels', () => stretched(200, 8000)],
  ['a flame upside down', async () => (await drawnFlame()).flip()],
  ['a flame on a poster', () => hungOn(sharp(street))],
  ['a flame on a screen in the dark', () => hungOn(plain('#101418', 640, 480))],
])('%s is answered with sane scores', async (_name, image) => {
  await scoresIn(await image());
});

test.each<[string, () => Sharp | Promise<Sharp>]>([
  ['a screen full of orange', () => plain('#ff780a')],
  ['a screen full of red', () => plain('#ff1400')],
  ['a dark screen', () => plain('#000000')],
  ['an image of one pixel', () => plain('#ff780a', 1, 1)],
])('%s shows neither fire nor smoke at the default threshold', async (_name, image) => {
  const { fire, smoke } = await scoresIn(await image());
  expect(Math.max(fire, smoke)).toBeLessThan(fireScene?.default_min_score ?? 0);
});

test.each<[string, () => Promise<Sharp>]>([
  ['in monochrome', async () => (await drawnFlame()).greyscale().toColourspace('srgb')],
  ['by night infrared', infrared],
])('a flame %s shows no fire at the default threshold, and may be taken for smoke', async (_name, image) => {
  expect((await scoresIn(await image())).fire).toBeLessThan(fireScene?.default_min_score ?? 0);
});

test('the example shows smoke beside its fire', async () => {
  expect((await scoresIn(sharp(exampleFire))).smoke).toBeGreaterThan(0.5);
});
