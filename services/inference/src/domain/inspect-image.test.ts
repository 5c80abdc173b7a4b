import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inspectImage } from './inspect-image.ts';
import { ImageRefusedError } from './image-error.ts';
import { ORDINARY_MS } from './image-limits.ts';

const refusalOf = (bytes: Buffer): string => {
  try {
    inspectImage(bytes);
    return 'accepted';
  } catch (error) {
    return error instanceof ImageRefusedError ? error.reason : String(error);
  }
};

const segment = (marker: number, data: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 0xff]), data]);
const frame = (width: number, height: number, marker = 0xc2, components = 1) => {
  const data = Buffer.from([8, 0, 0, 0, 0, components, 1, 0x11, 0]);
  data.writeUInt16BE(height, 1);
  data.writeUInt16BE(width, 3);
  return segment(marker, data);
};
const scan = Buffer.concat([
  segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  Buffer.from([1, 2, 0xff, 0, 0xff, 0xd0, 3]),
]);
const jpeg = (...parts: Buffer[]) => Buffer.concat([Buffer.from([0xff, 0xd8]), ...parts, Buffer.from([0xff, 0xd9])]);

const chunk = (type: string, data: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
};
const header = (width: number, height: number, { depth = 8, interlace = 0 } = {}) => {
  const data = Buffer.alloc(13);
  data[8] = depth;
  data[12] = interlace;
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  return chunk('IHDR', data);
};
const png = (...chunks: Buffer[]) =>
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ...chunks,
    chunk('IEND', Buffer.alloc(0)),
  ]);

const part = (type: string, data: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(type, 'latin1'), length, data, Buffer.alloc(data.length % 2)]);
};
const webp = (...parts: Buffer[]) =>
  Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WEBP'), ...parts]);
const canvas = (width: number, height: number) => {
  const data = Buffer.alloc(10);
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return part('VP8X', data);
};

test.each<[string, Buffer, object]>([
  [
    'a JPEG with a thumbnail in a segment',
    jpeg(segment(0xe1, jpeg(frame(9, 9), scan)), frame(640, 480), scan),
    { type: 'jpeg', width: 640, height: 480 },
  ],
  [
    'a JPEG with fill bytes and restarts',
    jpeg(Buffer.from([0xff, 0xff]), frame(64, 48), scan, scan),
    { type: 'jpeg', width: 64, height: 48 },
  ],
  [
    'a JPEG with 100 scans',
    jpeg(frame(64, 48), ...Array<Buffer>(100).fill(scan)),
    { type: 'jpeg', width: 64, height: 48 },
  ],
  [
    'a JPEG in front of which another one is hidden behind a stuffed byte',
    jpeg(Buffer.from([0xff, 0x00, 0x00, 0x19]), frame(640, 480), scan, Buffer.from([0xff, 0xd9]), frame(9, 9), scan),
    { type: 'jpeg', width: 640, height: 480 },
  ],
  [
    'a JPEG with bytes that belong nowhere',
    jpeg(Buffer.from([0xff, 0]), frame(64, 48), Buffer.from([7]), scan),
    { type: 'jpeg', width: 64, height: 48 },
  ],
  ['a PNG', png(header(640, 480), chunk('IDAT', Buffer.alloc(9))), { type: 'png', width: 640, height: 480 }],
  [
    'an extended WebP',
    webp(canvas(640, 480), part('VP8 ', Buffer.alloc(30))),
    { type: 'webp', width: 640, height: 480 },
  ],
  [
    'a lossless WebP',
    webp(part('VP8L', Buffer.from([0x2f, 0x7f, 0xc2, 0x77, 0, 0, 0, 0, 0, 0, 0]))),
    { type: 'webp', width: 640, height: 480 },
  ],
])('%s is measured', (_name, bytes, expected) => {
  expect(inspectImage(bytes)).toMatchObject(expected);
});

const MiB = 2 ** 20;
const scanOf = (bytes: number) => Buffer.concat([scan, Buffer.alloc(bytes)]);
const [baseline, progressive, arithmetic] = [0xc0, 0xc2, 0xc9];

test.each<[string, Buffer]>([
  ['a photograph of 12 megapixels', jpeg(frame(4_000, 3_000, baseline), scanOf(4 * MiB))],
  ['a JPEG with much behind its end', Buffer.concat([jpeg(frame(640, 480), scan), Buffer.alloc(8 * MiB)])],
  [
    'a progressive JPEG of 2 megapixels',
    jpeg(frame(1_920, 1_080, progressive), ...Array<Buffer>(10).fill(scanOf(MiB / 20))),
  ],
  ['a screenshot of 3.7 megapixels', png(header(2_560, 1_440))],
  ['a WebP of 2 megapixels', webp(canvas(1_920, 1_080), part('VP8 ', Buffer.alloc(MiB / 2)))],
])('%s is ordinary', (_name, bytes) => {
  expect(inspectImage(bytes).expectedMs).toBeLessThanOrEqual(ORDINARY_MS);
});

test.each<[string, Buffer]>([
  ['a JPEG of 8 MiB', jpeg(frame(2_400, 2_400, baseline), scanOf(8 * MiB))],
  ['a progressive JPEG of 12 megapixels', jpeg(frame(4_000, 3_000, progressive), ...Array<Buffer>(10).fill(scan))],
  ['a JPEG of 2 megapixels with 60 scans', jpeg(frame(1_920, 1_080, baseline), ...Array<Buffer>(60).fill(scan))],
  ['an arithmetic JPEG of 1 MiB', jpeg(frame(640, 480, arithmetic), scanOf(MiB))],
  ['a JPEG of four inks', jpeg(frame(640, 480, baseline, 4), scan)],
  ['a PNG of 8 megapixels', png(header(3_840, 2_160))],
  ['an interlaced PNG of 2.3 megapixels', png(header(1_500, 1_500, { interlace: 1 }))],
  ['a PNG of 16 bits and 2.3 megapixels', png(header(1_500, 1_500, { depth: 16 }))],
  ['a PNG of 2.3 megapixels with a colour profile', png(header(1_500, 1_500), chunk('iCCP', Buffer.alloc(9)))],
  ['a WebP of 5 megapixels', webp(canvas(2_500, 2_000), part('VP8 ', Buffer.alloc(30)))],
  ['a WebP of 2 MiB', webp(canvas(1_920, 1_080), part('VP8 ', Buffer.alloc(2 * MiB)))],
])('%s is expected to be expensive', (_name, bytes) => {
  expect(inspectImage(bytes).expectedMs).toBeGreaterThan(ORDINARY_MS);
});

test.each<[string, Buffer, string]>([
  ['an empty file', Buffer.alloc(0), 'not_an_image'],
  ['a GIF', Buffer.from('GIF89a0000000000'), 'not_an_image'],
  ['a JPEG with 101 scans', jpeg(frame(64, 48), ...Array<Buffer>(101).fill(scan)), 'not_decodable'],
  [
    'a JPEG with 101 scans behind a stray byte',
    jpeg(frame(64, 48), Buffer.of(0), ...Array<Buffer>(101).fill(scan)),
    'not_decodable',
  ],
  [
    'a JPEG with 101 scans behind a reserved marker in a scan',
    jpeg(frame(64, 48), scan, Buffer.from([0xff, 0x02, 0xff, 0xff]), ...Array<Buffer>(100).fill(scan)),
    'not_decodable',
  ],
  [
    'a JPEG of 5,000 segments',
    jpeg(frame(64, 48), ...Array<Buffer>(5_000).fill(segment(0xe0, Buffer.of()))),
    'not_decodable',
  ],
  ['a JPEG with two frames', jpeg(frame(64, 48), frame(64, 48), scan), 'not_decodable'],
  ['a JPEG without a frame', jpeg(scan), 'not_decodable'],
  ['a JPEG whose height comes later', jpeg(frame(64, 0), scan), 'not_decodable'],
  ['a JPEG that is too wide', jpeg(frame(16_384, 10), scan), 'too_many_pixels'],
  ['a JPEG of 51 megapixels', jpeg(frame(8_500, 6_000), scan), 'too_many_pixels'],
  ['a PNG of one column', png(header(1, 50_000_000)), 'too_many_pixels'],
  ['a PNG that declares nothing', png(header(0, 10)), 'not_decodable'],
  ['a PNG whose header comes twice', png(header(10, 10), header(10, 10)), 'not_decodable'],
  ['a PNG whose header does not come first', png(chunk('gAMA', Buffer.alloc(4)), header(10, 10)), 'not_decodable'],
  [
    'a PNG of 5,000 chunks',
    png(header(10, 10), ...Array<Buffer>(5_000).fill(chunk('IDAT', Buffer.alloc(1)))),
    'not_decodable',
  ],
  ['a PNG with a large colour profile', png(header(10, 10), chunk('iCCP', Buffer.alloc(200_000))), 'not_decodable'],
  ['a WebP with a huge canvas', webp(canvas(16_384, 16_384)), 'too_many_pixels'],
  [
    'a WebP of 600 frames',
    webp(canvas(10, 10), ...Array<Buffer>(600).fill(part('ANMF', Buffer.alloc(2)))),
    'not_decodable',
  ],
  ['a WebP of unknown contents', webp(part('JUNK', Buffer.alloc(20))), 'not_decodable'],
])('%s is refused', (_name, bytes, reason) => {
  expect(refusalOf(bytes)).toBe(reason);
});

test('for any bytes, the answer is a size within the limits or a refusal', () => {
  const starts = [
    [0xff, 0xd8, 0xff],
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    [...Buffer.from('RIFF\0\0\0\0WEBP')],
  ];
  const bytes = fc.tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 300 }));
  fc.assert(
    fc.property(bytes, ([start, rest]) => {
      expect(['accepted', 'not_an_image', 'too_many_pixels', 'not_decodable']).toContain(
        refusalOf(Buffer.from([...start, ...rest])),
      );
    }),
    { numRuns: 2_000 },
  );
});

test('a JPEG of 8 MiB of fill bytes is inspected in about the time of one pass over its bytes', () => {
  const bytes = jpeg(frame(64, 48), scan, Buffer.alloc(8 * 1024 * 1024, 0xff));
  const looking = leastCpuMs(() => bytes.reduce((count, byte) => count + (byte === 0xff ? 1 : 0), 0));
  // A walk from marker to marker took many times as long, in which the service did nothing else.
  expect(leastCpuMs(() => refusalOf(bytes)) / looking).toBeLessThan(3);
});

function leastCpuMs(work: () => void): number {
  const runs = Array.from({ length: 4 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...runs);
}
