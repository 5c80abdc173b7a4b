import { expect, test } from '@jest/globals';
import { piecesMade } from '../../../test/support/pieces-made.ts';
import { createRtpVideo } from './rtp-video.ts';
import type { VideoDescription } from './sdp.ts';

const SPS = Buffer.from('6742c01eda0280bfe5c0440000030004000003', 'hex');
const PPS = Buffer.from('68ce3c80', 'hex');
const h264: VideoDescription = {
  codec: 'h264',
  payloadType: 96,
  clockRate: 90_000,
  trackControl: undefined,
  streamControl: undefined,
  parameterSets: [SPS, PPS],
};

interface Packet {
  sequence: number;
  payload: Buffer;
  timestamp?: number;
  isMarked?: boolean;
  type?: number;
  first?: number;
}

function rtp({ sequence, payload, timestamp = 0, isMarked = false, type = 96, first = 0x80 }: Packet): Buffer {
  const head = Buffer.alloc(12);
  head[0] = first;
  head[1] = (isMarked ? 0x80 : 0) | type;
  head.writeUInt16BE(sequence & 0xffff, 2);
  head.writeUInt32BE(timestamp, 4);
  return Buffer.concat([head, payload]);
}

const picture = (sequence: number, unit: number, timestamp = sequence * 3600) =>
  rtp({ sequence, timestamp, isMarked: true, payload: Buffer.from([unit, sequence & 0xff, 7, 7]) });
const IDR = 0x65;
const SLICE = 0x41;

/** The content of every output frame, without the header. */
function contents(out: Buffer[]): string[] {
  return out.filter((piece) => piece.toString('hex', 0, 4) === '1f43b675').map((piece) => piece.toString('hex'));
}

test('fragments make one unit, aggregations several, and frames end by mark or by time', () => {
  const take = createRtpVideo(h264);
  const aggregate = Buffer.concat([Buffer.from([0x78, 0, SPS.length]), SPS, Buffer.from([0, PPS.length]), PPS]);
  const out = [
    rtp({ sequence: 65_535, payload: aggregate }),
    rtp({ sequence: 0, payload: Buffer.from([0x7c, 0x85, 1, 2]) }),
    rtp({ sequence: 1, payload: Buffer.from([0x7c, 0x05, 3, 4]) }),
    rtp({ sequence: 2, payload: Buffer.from([0x7c, 0x45, 5, 6]) }),
    rtp({ sequence: 3, timestamp: 3600, payload: Buffer.from([SLICE, 9, 9]) }),
    rtp({ sequence: 4, timestamp: 7200, payload: Buffer.from([SLICE, 8, 8]), isMarked: true }),
  ].flatMap(take);
  const pictures = contents(out);
  expect(pictures).toHaveLength(3);
  expect(pictures[0]).toContain('0000000765010203040506');
  expect(pictures[1]).toContain('00000003410909');
  expect(pictures[2]).toContain('00000003410808');
});

test('extensions, sources and padding are removed; packets of padding and other types are skipped', () => {
  const take = createRtpVideo(h264);
  const extension = Buffer.from([0, 0, 0, 1, 0xbe, 0xde, 0, 1, 1, 2, 3, 4]);
  const padded = Buffer.concat([extension, Buffer.from([IDR, 1, 2, 0, 0, 3])]);
  const out = [
    rtp({ sequence: 1, first: 0xb1, payload: padded, isMarked: true }),
    rtp({ sequence: 2, first: 0xa0, payload: Buffer.from([0, 0, 0, 4]) }),
    rtp({ sequence: 900, type: 97, payload: Buffer.from([IDR, 7]), isMarked: true }),
    picture(3, SLICE),
  ].flatMap(take);
  expect(contents(out)).toHaveLength(2);
  expect(contents(out)[0]).toMatch(/00000003650102$/);
});

test('a lost packet drops its frame and all that depend on it; repeated packets change nothing', () => {
  const take = createRtpVideo(h264);
  const kept = [picture(1, IDR), picture(2, SLICE), picture(2, SLICE), picture(4, SLICE), picture(5, SLICE)].flatMap(
    take,
  );
  expect(contents(kept)).toHaveLength(2);
  expect(contents([picture(6, IDR), picture(7, SLICE)].flatMap(take))).toHaveLength(2);
});

test('a frame with a gap is dropped, also when its last packet arrived', () => {
  const take = createRtpVideo(h264);
  const out = [
    rtp({ sequence: 1, payload: Buffer.from([0x7c, 0x85, 1]) }),
    rtp({ sequence: 3, payload: Buffer.from([0x7c, 0x45, 3]), isMarked: true }),
    picture(4, SLICE),
    picture(5, IDR),
  ].flatMap(take);
  expect(contents(out)).toHaveLength(1);
});

test.each([
  ['a fragment without a beginning', [0x7c, 0x05, 1]],
  ['a fragment that ends before it began', [0x7c, 0x45, 1]],
  ['an empty fragment', [0x7c, 0x85]],
  ['an aggregation whose length leads beyond the end', [0x78, 0xff, 0xff, 1]],
  ['an aggregation of nothing', [0x78, 0, 0]],
  ['an aggregation that is cut off', [0x78, 0, 1, IDR, 0]],
  ['a unit of a header alone', [IDR]],
])('%s makes no frame and does not end the stream', (_name, payload) => {
  const take = createRtpVideo(h264);
  expect(take(rtp({ sequence: 1, payload: Buffer.from(payload), isMarked: true }))).toEqual([]);
  expect(contents(take(picture(2, IDR)))).toHaveLength(1);
});

test.each([
  ['codec_unsupported', 'units out of order', rtp({ sequence: 1, payload: Buffer.from([0x79, 0, 0, 0, 1, IDR]) })],
  ['unreadable', 'another version', Buffer.concat([Buffer.from([0x40]), Buffer.alloc(20)])],
  ['unreadable', 'half a header', Buffer.alloc(8, 0x80)],
  [
    'unreadable',
    'an extension beyond the end',
    rtp({ sequence: 1, first: 0x90, payload: Buffer.from([0, 0, 0xff, 0xff]) }),
  ],
  ['unreadable', 'more padding than there is', rtp({ sequence: 1, first: 0xa0, payload: Buffer.from([1, 200]) })],
  ['unreadable', 'padding of nothing', rtp({ sequence: 1, first: 0xa0, payload: Buffer.from([1, 0]) })],
])('%s: %s', (reason, _name, packet) => {
  expect(() => createRtpVideo(h264)(packet)).toThrow(reason);
});

test.each([
  [
    'a fragment that never ends',
    (n: number) => Buffer.concat([Buffer.from([0x7c, n === 0 ? 0x85 : 5]), Buffer.alloc(60_000)]),
  ],
  ['tiny packets of one picture', () => Buffer.from([SLICE, 1])],
])('%s is rejected after 8 MiB', (_name, payload) => {
  const take = createRtpVideo(h264);
  const send = () => {
    for (let n = 0; n < 200_000; n += 1) take(rtp({ sequence: n, payload: payload(n) }));
  };
  expect(send).toThrow('unreadable');
});

test('H.265 fragments get their header of two bytes back, and layers and times of it stay', () => {
  const sets = [
    '40010c01ffff016000000300900000030000030078',
    '420101016000000300900000030000030078a0',
    '4401c172b46240',
  ];
  const take = createRtpVideo({ ...h264, codec: 'h265', parameterSets: sets.map((set) => Buffer.from(set, 'hex')) });
  const out = [
    rtp({ sequence: 1, payload: Buffer.from([0x62, 0x01, 0x93, 1, 2]) }),
    rtp({ sequence: 2, payload: Buffer.from([0x62, 0x01, 0x53, 3]), isMarked: true }),
  ].flatMap(take);
  expect(contents(out)[0]).toMatch(/000000052601010203$/);
});

test('an aggregation of more units than a frame may have is dropped without allocating more of them', () => {
  const take = createRtpVideo(h264);
  const units = Buffer.alloc(3 * 20_000, Buffer.from([0, 1, SLICE]));
  const packet = rtp({ sequence: 1, payload: Buffer.concat([Buffer.of(0x78), units]), isMarked: true });
  expect(piecesMade(() => expect(take(packet)).toEqual([]))).toBeLessThan(5_000);
  expect(contents(take(picture(2, IDR)))).toHaveLength(1);
});
