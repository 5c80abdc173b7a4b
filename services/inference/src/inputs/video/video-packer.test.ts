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

test('nothing is handed on before a frame that can be decoded, then everything', () => {
  const packer = createNalPacker('h264');
  expect(packer.pack(0, [SLICE])).toEqual([]);
  expect(packer.pack(40, [IDR])).toEqual([]);
  expect(ids(packer.pack(80, [SPS, PPS, IDR]))).toEqual([HEADER, CLUSTER]);
  expect(ids(packer.pack(120, [SLICE]))).toEqual([CLUSTER]);
});

test('after a loss frames are left out until one that stands for itself', () => {
  const packer = createNalPacker('h264');
  packer.learn([SPS, PPS]);
  expect(packer.pack(0, [IDR])).toHaveLength(2);
  packer.interrupt();
  expect(packer.pack(40, [SLICE])).toEqual([]);
  expect(packer.pack(80, [IDR])).toHaveLength(1);
  expect(packer.pack(120, [SLICE])).toHaveLength(1);
});

test('sets that come by themselves make the next frame an entry, and it carries them', () => {
  const packer = createNalPacker('h264');
  expect(packer.pack(0, [SPS])).toEqual([]);
  expect(packer.pack(0, [PPS])).toEqual([]);
  const [, picture] = packer.pack(0, [SLICE]);
  expect(picture?.includes(SPS)).toBe(true);
  expect(picture?.includes(PPS)).toBe(true);
});

test('a refresh without a whole frame begins at its recovery point', () => {
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
  [
    'sets of parameters of many pages together',
    [...Array.from({ length: 4 }, (_, n) => Buffer.concat([SPS, Buffer.alloc(3000, n)])), PPS, IDR],
  ],
  ['more units than a picture has', Array.from({ length: 5000 }, () => SLICE)],
])('%s is no video', (_name, units) => {
  const packer = createNalPacker('h264');
  expect(() => packer.pack(0, units)).toThrow('unreadable');
});

const H264 = { sps: '67', pps: '68', slice: '65' };
const H265 = { sps: '4201', pps: '4401', slice: '2601' };
test.each([
  ['h264' as const, H264, []],
  ['h265' as const, H265, [Buffer.from('40010c01ffff', 'hex')]],
])('a change of a few bytes of %s hands on no more than some pages', (codec, heads, learnt) => {
  const unit = (head: string, byte: number, size: number) =>
    Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(size, byte)]);
  const changed = (setBytes: number): number => {
    const packer = createNalPacker(codec);
    packer.learn(learnt);
    for (const head of [heads.sps, heads.pps])
      packer.pack(
        0,
        Array.from({ length: 16 }, (_, n) => unit(head, n + 1, setBytes)),
      );
    packer.pack(0, [unit(heads.slice, 7, 4)]);
    return packer.pack(40, [unit(heads.pps, 99, 4), unit(heads.slice, 7, 4)])[0]?.length ?? 0;
  };
  expect(changed(200)).toBeGreaterThan(3_000);
  expect(changed(200)).toBeLessThan(8_192);
  expect(() => changed(4_000)).toThrow('unreadable');
});

test('each JPEG frame stands for itself', () => {
  const packer = createJpegPacker();
  expect(ids(packer.pack(0, [Buffer.from('ffd8ffd9', 'hex')]))).toEqual([HEADER, CLUSTER]);
  packer.interrupt();
  expect(ids(packer.pack(40, [Buffer.from('ffd8ffd9', 'hex')]))).toEqual([CLUSTER]);
});
