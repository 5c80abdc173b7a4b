import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import sharp from 'sharp';
import { ImageRefusedError } from '../src/domain/image-error.ts';
import { createImageDecoder } from '../src/images/create-image-decoder.ts';
import type { ImageDecoder } from '../src/images/create-image-decoder.ts';
import { startImageProcess } from '../src/images/image-process.ts';
import { createSandbox } from '../src/sandbox/sandbox.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import { manyScans } from './support/images.ts';

let sandbox: Sandbox;
let decoder: ImageDecoder;
let lost = 0;

const small = () => ({ width: 4, height: 2 });
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c81414' } });
const reasonOf = (bytes: Uint8Array) =>
  decoder.decode(bytes, small).then(
    () => 'decoded',
    (error: unknown) => (error instanceof ImageRefusedError ? error.reason : error),
  );

beforeAll(async () => {
  sandbox = await createSandbox('require');
  decoder = createImageDecoder({
    sandbox,
    atOnce: 2,
    limits: { cpuMs: 1_000, waitMs: 200_000 },
    onLost: () => (lost += 1),
  });
  decoder.start();
});

afterAll(async () => {
  decoder.stop();
  sandbox.close();
});

test('an image comes back scaled, with its own size beside it', async () => {
  const { original, image } = await decoder.decode(await plain(64, 32).jpeg().toBuffer(), small);
  expect(original).toEqual({ width: 64, height: 32 });
  expect(image).toMatchObject({ width: 4, height: 2 });
  expect(Math.abs((image.data[0] ?? 0) - 200)).toBeLessThan(12);
});

test('an image whose size the decoder reads in another way than it was validated by is refused before it is unpacked', async () => {
  const bytes = await plain(64, 32).jpeg().toBuffer();
  const process = startImageProcess(sandbox, { cpuMs: 1_000, waitMs: 200_000 });
  try {
    const refusal: unknown = await process.decode(bytes, { width: 16, height: 16 }, small).catch((e: unknown) => e);
    expect(refusal).toBeInstanceOf(ImageRefusedError);
    expect((refusal as ImageRefusedError).cause).toBe('another size');
    const { original } = await process.decode(bytes, { width: 32, height: 64 }, small);
    expect(original).toEqual({ width: 64, height: 32 });
  } finally {
    process.kill();
  }
});

test('an image that costs too much ends its own process and no other image', async () => {
  const expensive = await manyScans(85, 4_000);
  const honest = await plain(640, 480).jpeg().toBuffer();
  const before = lost;
  const [refused, ...others] = await Promise.all([
    reasonOf(expensive),
    ...Array.from({ length: 20 }, () => reasonOf(honest)),
  ]);
  expect(refused).toBe('not_decodable');
  expect(others).toEqual(Array(20).fill('decoded'));
  expect(lost).toBe(before + 1);
});

test('the processor time of an image is reported, and an image that ended its process took all that it may', async () => {
  const { cpuMs: cheap } = await decoder.decode(await plain(64, 32).jpeg().toBuffer(), small);
  const { cpuMs: dear } = await decoder.decode(await plain(4_000, 4_000).png().toBuffer(), small);
  expect(dear).toBeGreaterThan(cheap);
  const refused: unknown = await decoder.decode(await manyScans(85, 4_000), small).catch((error: unknown) => error);
  expect(refused).toMatchObject({ reason: 'not_decodable', cpuMs: 1_000 });
});

test('after every process was lost, images are decoded as before', async () => {
  const expensive = await manyScans(85, 4_000);
  await Promise.all([reasonOf(expensive), reasonOf(expensive), reasonOf(expensive)]);
  expect(await reasonOf(await plain(64, 32).png().toBuffer())).toBe('decoded');
});

test('a lost process is replaced at once, and meanwhile another is ready', async () => {
  const started: number[] = [];
  const counted: Sandbox = {
    ...sandbox,
    spawn: (program, stdio) => {
      started.push(program.niceness ?? 0);
      return sandbox.spawn(program, stdio);
    },
  };
  const limits = { cpuMs: 1_000, waitMs: 200_000 };
  const own = createImageDecoder({ sandbox: counted, atOnce: 1, limits, onLost: () => undefined });
  own.start();
  try {
    expect(started).toEqual([0, 0, 5, 5]);
    await expect(own.decode(await manyScans(85, 4_000), small)).rejects.toMatchObject({ reason: 'not_decodable' });
    await until(() => started.length === 5);
    expect(started).toEqual([0, 0, 5, 5, 5]);
    await own.decode(await plain(4_000, 4_000).png().toBuffer(), small);
    expect(started).toHaveLength(5);
  } finally {
    own.stop();
  }
});

test('an image with more than 100 scans is refused before anything is decoded', async () => {
  const before = lost;
  expect(await reasonOf(await manyScans(3_000, 64))).toBe('not_decodable');
  expect(lost).toBe(before);
});

test('an SVG in the clothes of a PNG reaches no loader', async () => {
  const bytes = Buffer.concat([
    (await plain(8, 8).png().toBuffer()).subarray(0, 33),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  ]);
  expect(await reasonOf(bytes)).toBe('not_decodable');
});

test('a large image is decoded after any earlier work of its process', async () => {
  const large = await plain(5_000, 5_000)
    .ensureAlpha()
    .toColourspace('rgb16')
    .png({ progressive: true, compressionLevel: 1 })
    .toBuffer();
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const grain = sharp({ create: { width: 500, height: 500, channels: 3, background: '#808080', noise } });
  // Not as a file: another test of this process may have forbidden that any is read here.
  const raw = { width: 500, height: 500, channels: 3 } as const;
  const blocks = sharp(await grain.raw().toBuffer(), { raw }).resize(4_000, 4_000, { kernel: 'nearest' });
  const before = await blocks.webp({ lossless: true, effort: 0 }).toBuffer();
  const process = startImageProcess(sandbox, { cpuMs: 20_000, waitMs: 200_000 });
  try {
    const side = { width: 4_000, height: 4_000 };
    for (let count = 0; count < 4; count += 1) await process.decode(before, side, small);
    const { original } = await process.decode(large, { width: 5_000, height: 5_000 }, small);
    expect(original).toEqual({ width: 5_000, height: 5_000 });
  } finally {
    process.kill();
  }
});
