import { expect, test } from '@jest/globals';
import { createJpegDepacketizer } from './rtp-jpeg.ts';

interface Fields {
  offset?: number;
  type?: number;
  q?: number;
  specific?: number;
  width?: number;
}

function payload({ offset = 0, type = 1, q = 50, specific = 0, width = 40 }: Fields, ...rest: number[]): Buffer {
  return Buffer.from([specific, offset >> 16, (offset >> 8) & 0xff, offset & 0xff, type, q, width, 30, ...rest]);
}
const tables = (count: number) => [0, 0, 0, count * 64, ...Array.from({ length: count * 64 }, () => 16)];

test('pieces in order make one frame with headers of its own, without markers from the data', () => {
  const jpeg = createJpegDepacketizer();
  expect(jpeg.add(payload({}, 1, 2, 0xff, 0))).toBe(true);
  expect(jpeg.add(payload({ offset: 4 }, 3, 0xff, 0xd0, 4, 0xff, 0xc0, 9, 9))).toBe(true);
  const [picture] = jpeg.take() ?? [];
  expect(picture?.toString('hex', 0, 2)).toBe('ffd8');
  expect(picture?.toString('hex').endsWith('0102ff0003ffd004ffd9')).toBe(true);
});

test('tables are taken from the packet, or from the last one that named their number', () => {
  const jpeg = createJpegDepacketizer();
  expect(jpeg.add(payload({ q: 130 }, 0, 0, 0, 0, 7))).toBe(false);
  jpeg.take();
  expect(jpeg.add(payload({ q: 130 }, ...tables(2), 7))).toBe(true);
  const [told] = jpeg.take() ?? [];
  expect(jpeg.add(payload({ q: 130 }, 0, 0, 0, 0, 7))).toBe(true);
  expect(jpeg.take()?.[0]).toEqual(told);
});

test.each([
  ['a piece with a hole before it', payload({ offset: 8 }, 1)],
  ['a number of tables that means nothing', payload({ q: 0 }, 1)],
  ['tables that lead beyond the end', payload({ q: 200 }, 0, 0, 0, 128, 1, 2)],
  ['tables of an odd length', payload({ q: 200 }, 0, 0, 0, 3, 1, 2, 3, 4)],
  ['tables of 16 bits', payload({ q: 200 }, 0, 1, 0, 64, ...Array.from({ length: 70 }, () => 1))],
  ['fields without data', payload({})],
])('%s makes no frame', (_name, bytes) => {
  const jpeg = createJpegDepacketizer();
  expect(jpeg.add(bytes)).toBe(false);
  jpeg.take();
  expect(jpeg.add(payload({}, 1))).toBe(true);
});

test.each([
  ['interlaced fields', { specific: 1 }],
  ['types of other vendors', { type: 2 }],
  ['sizes that the field cannot tell', { width: 0 }],
])('%s are not read', (_name, fields) => {
  expect(() => createJpegDepacketizer().add(payload(fields, 1))).toThrow('codec_unsupported');
});
