import { deflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { isOrdinary, inspectImage } from './inspect-image.ts';

const length = (bytes: number) => {
  const word = Buffer.alloc(4);
  word.writeUInt32BE(bytes);
  return word;
};
const chunk = (type: string, data: Buffer) =>
  Buffer.concat([length(data.length), Buffer.from(type), data, Buffer.alloc(4)]);
const png = (profile: Buffer) =>
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.concat([length(64), length(64), Buffer.from([8, 2, 0, 0, 0])])),
    chunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), deflateSync(profile)])),
    chunk('IEND', Buffer.of()),
  ]);
const segment = (marker: number, data: Buffer) => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};
const jpeg = (profile: Buffer) =>
  Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([1, 1]), profile])),
    segment(0xc0, Buffer.from([8, 0, 64, 0, 64, 3])),
    Buffer.from('ffd9', 'hex'),
  ]);

test.each([
  ['PNG', png],
  ['JPEG', jpeg],
])('a %s with the profile of a camera is ordinary', (_type, make) => {
  expect(isOrdinary(inspectImage(make(Buffer.alloc(3_144))))).toBe(true);
});

test.each([
  ['PNG', png],
  ['JPEG', jpeg],
])('a %s whose profile has 4,000 matrices waits among the expensive ones', (_type, make) => {
  expect(isOrdinary(inspectImage(make(Buffer.alloc(48_000))))).toBe(false);
});
