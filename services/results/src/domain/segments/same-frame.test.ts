import { expect, test } from '@jest/globals';
import type { TrackedObject } from '@vision/contracts/detection';
import { toStored } from '../stored-objects.ts';
import { isSameFrame } from './same-frame.ts';
import type { SegmentFrame } from './segment.ts';

const object: TrackedObject = {
  label: 'person',
  score: 0.9,
  bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.1, height: 0.2 },
  track_id: 'a1-7',
};
const frame: SegmentFrame = {
  seq: 3,
  position: 4,
  attempt: 1,
  frameTimeMs: 600,
  width: 1280,
  height: 720,
  objects: [object, { ...object, score: 0.4 }],
};

test('a frame is the same as its copy, and as one whose objects are text', () => {
  expect(isSameFrame(frame, structuredClone(frame))).toBe(true);
  const asText = { ...frame, objects: toStored(frame.objects as TrackedObject[]) };
  expect([isSameFrame(frame, asText), isSameFrame(asText, frame), isSameFrame(asText, { ...asText })]).toEqual([
    true,
    true,
    true,
  ]);
});

const { bbox } = object;
test.each<[string, Partial<SegmentFrame>]>([
  ['number', { seq: 2 }],
  ['position', { position: 5 }],
  ['attempt', { attempt: 2 }],
  ['time', { frameTimeMs: 601 }],
  ['width', { width: 1281 }],
  ['height', { height: 721 }],
  ['number of objects', { objects: [object] }],
  ['order of objects', { objects: [{ ...object, score: 0.4 }, object] }],
  ...(
    [
      ['label', { ...object, label: 'car' }],
      ['track', { ...object, track_id: 'a1-8' }],
      ['score', { ...object, score: 0.9001 }],
      ['centre', { ...object, bbox: { ...bbox, cx: 0.500001 } }],
      ['other centre', { ...object, bbox: { ...bbox, cy: 0.500001 } }],
      ['width of a box', { ...object, bbox: { ...bbox, width: 0.10001 } }],
      ['height of a box', { ...object, bbox: { ...bbox, height: 0.20001 } }],
    ] satisfies [string, TrackedObject][]
  ).map(([what, other]): [string, Partial<SegmentFrame>] => [
    what,
    { objects: [other, ...(frame.objects as TrackedObject[]).slice(1)] },
  ]),
])('a frame with another %s is different', (_what, change) => {
  const other = { ...frame, ...change };
  expect([isSameFrame(frame, other), isSameFrame(other, frame)]).toEqual([false, false]);
  const asText = { ...other, objects: toStored(other.objects as TrackedObject[]) };
  if (_what !== 'order of objects') expect(isSameFrame(frame, asText)).toBe(false);
});
