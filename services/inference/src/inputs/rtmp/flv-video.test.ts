import { expect, test } from '@jest/globals';
import { piecesMade } from '../../../test/support/pieces-made.ts';
import { createFlvVideo } from './flv-video.ts';

const SPS = '6742c01eda0280bfe5c0440000030004000003';
const PPS = '68ce3c80';
const avcC = Buffer.from(`0142c01effe10013${SPS}010004${PPS}`, 'hex');
const configuration = Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), avcC]);
const tag = (head: number[], ...unit: number[]) => Buffer.from([...head, 0, 0, 0, unit.length, ...unit]);
const key = tag([0x17, 1, 0, 0, 0], 0x65, 1, 2);
const delta = tag([0x27, 1, 0, 0, 80], 0x41, 3);

/** Times of the output frames, relative to the first. */
function times(out: Buffer[]): number[] {
  const clusters = out.filter((piece) => piece.toString('hex', 0, 4) === '1f43b675');
  const all = clusters.map((piece) => Number(piece.readBigUInt64BE(21)));
  return all.map((time) => time - (all[0] ?? 0));
}

test('frames carry the time of their message and their offset', () => {
  const take = createFlvVideo();
  const out = [
    take(0, configuration),
    take(1000, key),
    take(1040, delta),
    take(1080, tag([0x27, 1, 0xff, 0xff, 0xd8], 0x41)),
  ];
  expect(times(out.flat())).toEqual([0, 120, 40]);
});

test('times continue when the timestamps wrap', () => {
  const take = createFlvVideo();
  take(0xffffffff - 100, configuration);
  expect(times([take(0xffffffff, key), take(39, tag([0x27, 1, 0, 0, 0], 0x41))].flat())).toEqual([0, 40]);
});

test('frames before a description, ends, commands and metadata are skipped', () => {
  const take = createFlvVideo();
  expect(take(0, key)).toEqual([]);
  expect(take(0, Buffer.from([0x57, 0]))).toEqual([]);
  expect(take(0, Buffer.from([0x17, 2, 0, 0, 0]))).toEqual([]);
  expect(take(0, Buffer.from('9468766331ff', 'hex'))).toEqual([]);
  take(0, configuration);
  expect(times(take(0, key))).toEqual([0]);
});

test('enhanced RTMP names the codec, with and without an offset', () => {
  const take = createFlvVideo();
  const head = (packet: number) => [0x90 | packet, ...Buffer.from('avc1')];
  take(0, Buffer.concat([Buffer.from(head(0)), avcC]));
  expect(times([take(0, tag([...head(1), 0, 0, 40], 0x65, 1)), take(80, tag(head(3), 0x65, 1))].flat())).toEqual([
    0, 40,
  ]);
});

test.each([
  ['codec_unsupported', 'Sorenson H.263', Buffer.from([0x12, 0, 0])],
  ['codec_unsupported', 'AV1', Buffer.from('9061763031', 'hex')],
  ['codec_unsupported', 'several tracks', Buffer.from('9668766331', 'hex')],
  ['unreadable', 'a description of another version', Buffer.from('17000000000242c01effe1', 'hex')],
  ['unreadable', 'a description that is cut off', configuration.subarray(0, 20)],
  ['unreadable', 'lengths of three bytes', Buffer.from('17000000000142c01efee100', 'hex')],
  ['unreadable', 'half a head', Buffer.from([0x17, 1, 0])],
  ['unreadable', 'sets without an end of H.265', Buffer.from(`1c00000000${'01'.repeat(22)}ffa0ffff0001`, 'hex')],
])('%s: %s', (reason, _name, body) => {
  expect(() => createFlvVideo()(0, body)).toThrow(reason);
});

test.each([
  ['a unit that leads beyond the end', Buffer.from('170100000000000010ff', 'hex')],
  ['a length that is cut off', Buffer.from('17010000000000', 'hex')],
])('%s is no frame', (_name, body) => {
  const take = createFlvVideo();
  take(0, configuration);
  expect(() => take(0, body)).toThrow('unreadable');
});

test('another codec in the middle is another format', () => {
  const take = createFlvVideo();
  take(0, configuration);
  expect(() => take(0, Buffer.from([0x1c, 0, 0, 0, 0]))).toThrow('format_changed');
});

const hvcC = (arrays: Buffer[]) => Buffer.from([0x1c, 0, 0, 0, 0, ...Buffer.alloc(22, 1), arrays.length]);
const setsOf = (type: number, count: number, unit: Buffer) => {
  const length = Buffer.from([unit.length >> 8, unit.length & 0xff]);
  const head = Buffer.from([type, count >> 8, count & 0xff]);
  return Buffer.concat([head, ...Array.from({ length: count }, () => [length, unit]).flat()]);
};
const description = (...arrays: Buffer[]) => Buffer.concat([hvcC(arrays), ...arrays]);
const repeated = Array.from({ length: 16 }, (_, n) => setsOf(34, 1, Buffer.from([0x44, 1, n])));

test.each([
  [
    '60 arrays of 65,535 empty units',
    description(...Array.from({ length: 60 }, () => setsOf(32, 65_535, Buffer.alloc(0)))),
  ],
  ['one set more than 16 of a kind', description(setsOf(33, 17, Buffer.of(0x42, 1)))],
  ['more than 64 sets altogether', description(...Array.from({ length: 5 }, () => setsOf(32, 13, Buffer.of(0x40))))],
  [
    'the last of 16 sets two million times',
    description(...repeated, ...Array.from({ length: 32 }, () => setsOf(34, 65_535, Buffer.of(0x44, 1, 15)))),
  ],
  ['32 sets of H.264', Buffer.from(`170000000001010101ffff${'000167'.repeat(31)}00`, 'hex')],
])('%s: the description is refused before its units are allocated', (_name, body) => {
  expect(piecesMade(() => expect(() => createFlvVideo()(0, body)).toThrow('unreadable'))).toBeLessThan(500);
});

test.each([
  ['eight million units of one byte', Buffer.alloc(8 << 20, Buffer.from([0, 0, 0, 1, 0x41]))],
  ['two million empty units', Buffer.alloc(8 << 20)],
])('%s are refused after as many as a frame may have', (_name, units) => {
  const take = createFlvVideo();
  take(0, configuration);
  const picture = Buffer.concat([Buffer.from([0x27, 1, 0, 0, 0]), units]);
  expect(piecesMade(() => expect(() => take(0, picture)).toThrow('unreadable'))).toBeLessThan(5_000);
});

test('a description may repeat its sets and hold messages', () => {
  const take = createFlvVideo();
  const sets = [setsOf(32, 2, Buffer.of(0x40, 1)), setsOf(39, 1, Buffer.of(0x4e, 1))];
  expect(take(0, description(...sets))).toEqual([]);
});
