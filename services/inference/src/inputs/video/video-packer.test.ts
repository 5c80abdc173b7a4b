import { expect, test } from '@jest/globals';
import { createJpegPacker, createNalPacker } from './video-packer.ts';

const SPS = Buffer.from('6742c01eda0280bfe5c0440000030004000003', 'hex');
const PPS = Buffer.from('68ce3c80', 'hex');
const IDR = Buffer.from([0x65, 1, 2, 3]);
const SLICE = Buffer.from([0x41, 4, 5]);
const FILLER = Buffer.from([0x0c, 0xff]);
const HEADER = '1a45dfa3';
const CLUSTER = '1f43b675';

const ids = (pieces: Buffer[]) => pieces.map((piece) => piece.toString('hex', 0, 4));

test('nothing is handed on before a picture that can be decoded, then everything', () => {
  const packer = createNalPacker('h264');
  expect(packer.pack(0, [SLICE])).toEqual([]);
  expect(packer.pack(40, [IDR])).toEqual([]);
  expect(ids(packer.pack(80, [SPS, PPS, IDR]))).toEqual([HEADER, CLUSTER]);
  expect(ids(packer.pack(120, [SLICE]))).toEqual([CLUSTER]);
});

test('after a loss pictures are left out until one that stands for itself', () => {
  const packer = createNalPacker('h264');
  packer.learn([SPS, PPS]);
  expect(packer.pack(0, [IDR])).toHaveLength(2);
  packer.interrupt();
  expect(packer.pack(40, [SLICE])).toEqual([]);
  expect(packer.pack(80, [IDR])).toHaveLength(1);
  expect(packer.pack(120, [SLICE])).toHaveLength(1);
});

test('sets that come by themselves make the next picture an entry, and it carries them', () => {
  const packer = createNalPacker('h264');
  expect(packer.pack(0, [SPS])).toEqual([]);
  expect(packer.pack(0, [PPS])).toEqual([]);
  const [, picture] = packer.pack(0, [SLICE]);
  expect(picture?.includes(SPS)).toBe(true);
  expect(picture?.includes(PPS)).toBe(true);
});

test('a refresh without a whole picture begins at its recovery point', () => {
  const packer = createNalPacker('h264');
  packer.learn([SPS, PPS]);
  expect(packer.pack(0, [Buffer.from([6, 6, 1, 0x88, 0x80]), SLICE])).toHaveLength(2);
});

test('units of other kinds are left out', () => {
  const packer = createNalPacker('h264');
  const [, picture] = packer.pack(0, [SPS, PPS, FILLER, IDR]);
  expect(picture?.includes(IDR)).toBe(true);
  expect(picture?.includes(FILLER)).toBe(false);
});

test.each([
  ['a picture of more than 8 MiB', [SPS, PPS, Buffer.alloc((8 << 20) + 1, 0x65)]],
  ['a set of parameters of a page', [Buffer.concat([SPS, Buffer.alloc(4096)]), PPS, IDR]],
  ['more sets than there are numbers for', Array.from({ length: 20 }, (_, n) => Buffer.from([0x68, n, 1, 2]))],
  ['more units than a picture has', Array.from({ length: 5000 }, () => SLICE)],
])('%s is no video', (_name, units) => {
  const packer = createNalPacker('h264');
  expect(() => packer.pack(0, units)).toThrow('unreadable');
});

test('each JPEG picture stands for itself', () => {
  const packer = createJpegPacker();
  expect(ids(packer.pack(0, [Buffer.from('ffd8ffd9', 'hex')]))).toEqual([HEADER, CLUSTER]);
  packer.interrupt();
  expect(ids(packer.pack(40, [Buffer.from('ffd8ffd9', 'hex')]))).toEqual([CLUSTER]);
});
