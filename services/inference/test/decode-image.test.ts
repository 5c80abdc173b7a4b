import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import type { Sharp } from 'sharp';
import { createImageDecoder } from '../src/images/create-image-decoder.ts';
import type { ImageDecoder } from '../src/images/create-image-decoder.ts';
// Blocks the same loaders in this process as in the decoding process.
import '../src/images/decode-with-sharp.ts';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { ImageRefusedError } from '../src/domain/image-error.ts';
import { halves, plainPng, strangers, street, textBombPng } from './support/images.ts';

let sandbox: Sandbox;
let decoder: ImageDecoder;

beforeAll(async () => {
  sandbox = await createSandbox('auto');
  const limits = { cpuMs: 5_000, waitMs: 200_000 };
  decoder = createImageDecoder({ sandbox, atOnce: 2, limits, onLost: () => undefined });
  decoder.start();
});

afterAll(async () => {
  decoder.stop();
  sandbox.close();
});

const small = () => ({ width: 4, height: 2 });

/** Decodes to 4 x 2 pixels and returns them as rows of `r,g,b`. */
async function pixelsOf(bytes: Uint8Array): Promise<string[][]> {
  const { image } = await decoder.decode(bytes, small);
  const colours = Array.from({ length: 8 }, (_, index) => [...image.data.subarray(index * 3, index * 3 + 3)].join());
  return [colours.slice(0, 4), colours.slice(4)];
}

/** Whether a pixel is close to a colour: lossy formats change it slightly. */
function isClose(pixel: string | undefined, colour: [number, number, number], by = 12): boolean {
  return (pixel ?? '').split(',').every((value, channel) => Math.abs(Number(value) - (colour[channel] ?? 0)) <= by);
}

const refusalOf = (bytes: Uint8Array) =>
  decoder.decode(bytes, small).then(
    () => 'decoded',
    (error: unknown) => (error instanceof ImageRefusedError ? error.reason : error),
  );

test('the size of the original is reported and the image has the requested size', async () => {
  const { original, image } = await decoder.decode(street, ({ width, height }) => ({
    width: width / 3,
    height: height / 3,
  }));
  expect(original).toEqual({ width: 768, height: 576 });
  expect([image.width, image.height, image.data.length]).toEqual([256, 192, 256 * 192 * 3]);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])('EXIF orientation %i is applied before anything else', async (orientation) => {
  const upright = await halves('#ff0000', '#0000ff', { width: 40, height: 20 }).png().toBuffer();
  const undo: Record<number, (image: Sharp) => Sharp> = {
    2: (image) => image.flop(),
    3: (image) => image.rotate(180),
    4: (image) => image.flip(),
    5: (image) => image.flop().rotate(270),
    6: (image) => image.rotate(270),
    7: (image) => image.flop().rotate(90),
    8: (image) => image.rotate(90),
  };
  const stored = await (undo[orientation]?.(sharp(upright)) ?? sharp(upright))
    .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
    .withMetadata({ orientation })
    .toBuffer();
  const { original } = await decoder.decode(stored, small);
  expect(original).toEqual({ width: 40, height: 20 });
  const [row] = await pixelsOf(stored);
  expect(isClose(row?.[0], [254, 0, 0])).toBe(true);
  expect(isClose(row?.[3], [0, 0, 254])).toBe(true);
});

test.each<[string, (image: Sharp) => Sharp]>([
  ['a JPEG', (image) => image.jpeg({ quality: 95 })],
  ['a progressive JPEG', (image) => image.jpeg({ quality: 95, progressive: true })],
  ['a PNG', (image) => image.png()],
  ['an interlaced PNG', (image) => image.png({ progressive: true })],
  ['a PNG with a palette', (image) => image.png({ palette: true })],
  ['a PNG with 16 bits', (image) => image.toColourspace('rgb16').png()],
  ['a WebP', (image) => image.webp({ quality: 95 })],
  ['a lossless WebP', (image) => image.webp({ lossless: true })],
])('%s becomes 8-bit sRGB', async (_case, encode) => {
  const [row] = await pixelsOf(await encode(halves('#c81414', '#1414c8', { width: 64, height: 32 })).toBuffer());
  expect(isClose(row?.[0], [200, 20, 20])).toBe(true);
  expect(isClose(row?.[3], [20, 20, 200])).toBe(true);
});

test('a CMYK JPEG becomes sRGB', async () => {
  const rgb = await halves('#c81414', '#f0f0f0', { width: 64, height: 32 }).png().toBuffer();
  const cmyk = await sharp(rgb).toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer();
  expect((await sharp(cmyk).metadata()).space).toBe('cmyk');
  const [row] = await pixelsOf(cmyk);
  expect(isClose(row?.[0], [200, 20, 20], 50)).toBe(true);
  expect(isClose(row?.[3], [240, 240, 240], 30)).toBe(true);
});

test('a grey image has three equal channels', async () => {
  const grey = await sharp({ create: { width: 8, height: 4, channels: 3, background: '#808080' } })
    .toColourspace('b-w')
    .png()
    .toBuffer();
  expect(await pixelsOf(grey)).toEqual([Array(4).fill('128,128,128'), Array(4).fill('128,128,128')]);
});

test('transparent pixels are composited on white', async () => {
  const background = { r: 255, g: 0, b: 0, alpha: 0 };
  const clear = await sharp({ create: { width: 8, height: 4, channels: 4, background } })
    .png()
    .toBuffer();
  expect((await pixelsOf(clear))[0]).toEqual(Array(4).fill('255,255,255'));
});

test('the first frame of an animated WebP is used', async () => {
  const frames = Buffer.alloc(32 * 32 * 3).fill(Buffer.from([250, 10, 10]), 0, 32 * 16 * 3);
  const animated = await sharp(frames, { raw: { width: 32, height: 32, channels: 3, pageHeight: 16 } })
    .webp({ lossless: true })
    .toBuffer();
  expect((await sharp(animated).metadata()).pages).toBe(2);
  const { original } = await decoder.decode(animated, small);
  expect(original).toEqual({ width: 32, height: 16 });
  expect(isClose((await pixelsOf(animated))[1]?.[3], [250, 10, 10])).toBe(true);
});

test.each(Object.entries(strangers))('%s is no image', async (_name, bytes) => {
  expect(await refusalOf(bytes)).toBe('not_an_image');
});

test('an SVG behind the leading bytes of a JPEG is not decodable', async () => {
  const disguised = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), strangers['svg'] ?? Buffer.alloc(0)]);
  expect(await refusalOf(disguised)).toBe('not_decodable');
});

test('the process cannot load an SVG or a GIF at all', async () => {
  await expect(sharp(strangers['svg']).metadata()).rejects.toThrow();
  await expect(sharp(strangers['gif']).metadata()).rejects.toThrow();
});

test.each<[string, (image: Sharp) => Sharp]>([
  ['JPEG', (image) => image.jpeg()],
  ['PNG', (image) => image.png()],
  ['WebP', (image) => image.webp()],
])('half a %s is not decodable', async (_format, encode) => {
  const whole = await encode(sharp(street)).toBuffer();
  expect(await refusalOf(whole.subarray(0, whole.length / 2))).toBe('not_decodable');
});

test('fifty million pixels are decoded, one row more is too many', async () => {
  expect(await refusalOf(plainPng(10_000, 5001))).toBe('too_many_pixels');
  expect(await refusalOf(plainPng(30_000, 30_000))).toBe('too_many_pixels');
  const { original } = await decoder.decode(plainPng(10_000, 5000), small);
  expect(original).toEqual({ width: 10_000, height: 5000 });
});

test('several large images at once keep memory far below their unpacked size', async () => {
  const large = plainPng(10_000, 5000);
  const before = process.memoryUsage().rss;
  await Promise.all(Array.from({ length: 6 }, () => decoder.decode(large, small)));
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
});

test('compressed text inside a PNG is never unpacked', async () => {
  const bomb = textBombPng();
  const before = process.memoryUsage().rss;
  const { original } = await decoder.decode(bomb, small);
  expect(original).toEqual({ width: 64, height: 64 });
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});
