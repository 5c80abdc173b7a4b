import { crc32 } from 'node:zlib';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TrackedObject } from '../detection.ts';
import { frameData } from '../frame-data.ts';
import type { FrameData } from '../frame-data.ts';
import { segmentProduced } from '../frame-events.ts';
import { ByteReader, ByteWriter, SegmentDamagedError } from './bytes.ts';
import {
  decodeFrameSegment,
  encodeFrameSegment,
  fitsSegment,
  loadOfSegment,
  splitIntoFrameSegments,
} from './frame-segment.ts';

const JOBS = ['019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10', '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11'];

const decimal = (decimals: number) => fc.nat(10 ** decimals).map((integer) => integer / 10 ** decimals);
const unit = fc.oneof(decimal(4), decimal(6), fc.double({ min: 0, max: 1, noNaN: true }));
const word = fc.oneof(fc.constantFrom('person', 'car', '', '7'), fc.string({ unit: 'binary' }));

const trackedObject: fc.Arbitrary<TrackedObject> = fc.record({
  label: word,
  score: unit,
  bbox: fc.record({ format: fc.constant('cxcywh_normalized' as const), cx: unit, cy: unit, width: unit, height: unit }),
  track_id: word,
});

const side = fc.constantFrom(1, 720, 2 ** 31 - 1);
const anyFrame: fc.Arbitrary<FrameData> = fc.record(
  {
    job_id: fc.constantFrom(...JOBS),
    attempt: fc.nat(3),
    seq: fc.oneof(fc.nat(40), fc.constant(2 ** 31 - 1)),
    frame_time_ms: fc.oneof(fc.nat(9_000), fc.maxSafeInteger()),
    is_live: fc.boolean(),
    image: fc.record({ width: side, height: side }),
    objects: fc.array(trackedObject, { maxLength: 6 }),
  },
  { requiredKeys: ['job_id', 'attempt', 'seq', 'frame_time_ms', 'image', 'objects'] },
);

/** What a receiver reads of a frame that is sent by itself. */
const asSingle = (frame: FrameData) => frameData.parse(JSON.parse(JSON.stringify(frame)));

const sent = (frames: FrameData[]) => splitIntoFrameSegments(frames).map(encodeFrameSegment);
const received = (segments: Uint8Array[]) => segments.map((segment) => segmentProduced.schema.parse(segment));

test('any frames come out of segments as they would have come one by one', () => {
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 30 }), (frames) => {
      expect(received(sent(frames)).flatMap((segment) => segment.frames)).toEqual(frames.map(asSingle));
    }),
    { numRuns: 100 },
  );
});

const frame = (seq: number, objects: TrackedObject[] = [], facts: Partial<FrameData> = {}): FrameData => ({
  job_id: JOBS[0] ?? '',
  attempt: 1,
  seq,
  frame_time_ms: seq * 200,
  image: { width: 1280, height: 720 },
  objects,
  ...facts,
});
const person = (track: string, label = 'person'): TrackedObject => ({
  label,
  score: 0.5,
  bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.1, height: 0.2 },
  track_id: track,
});

test('a segment is of one attempt of one job, in order, and bounded in frames and size', () => {
  const lengths = (frames: FrameData[]) => splitIntoFrameSegments(frames).map((run) => run.length);
  expect(lengths([])).toEqual([]);
  expect(lengths(Array.from({ length: 1_100 }, (_, seq) => frame(seq)))).toEqual([512, 512, 76]);
  expect(lengths([frame(0), frame(1, [], { attempt: 2 }), frame(2, [], { attempt: 2 })])).toEqual([1, 2]);
  expect(lengths([frame(0), frame(0), frame(1), frame(5, [], { is_live: true })])).toEqual([1, 2, 1]);
  expect(lengths([frame(0), frame(1, [], { job_id: JOBS[1] ?? '' })])).toEqual([1, 1]);
  const crowd = Array.from({ length: 1_000 }, (_, track) => person(String(track)));
  expect(lengths([frame(0, crowd), frame(1, crowd), frame(2)])).toEqual([1, 2]);
  expect([fitsSegment([frame(0, crowd)]), fitsSegment([frame(0, [...crowd, ...crowd])])]).toEqual([true, false]);
});

test('a segment says for how many frames it counts before it is unpacked', () => {
  expect(loadOfSegment(encodeFrameSegment([frame(0), frame(1), frame(2)]))).toBe(3);
  const crowd = Array.from({ length: 1_000 }, (_, track) => person(String(track)));
  expect(loadOfSegment(encodeFrameSegment([frame(0, crowd)]))).toBeGreaterThan(90);
  expect(loadOfSegment(Buffer.from('{"job_id":"x"}'))).toBe(1);
  expect(loadOfSegment(Buffer.alloc(0))).toBe(1);
});

test('a record of one frame is small, and many frames that are alike are compressed', () => {
  const alone = frame(1_000, [person('a1-1'), person('a1-2'), person('a1-3', 'car')], {
    frame_time_ms: 1_773_565_206_200,
    is_live: true,
  });
  expect(encodeFrameSegment([alone]).length).toBeLessThanOrEqual(160);
  const crowd = Array.from({ length: 20 }, (_, track) => person(String(track)));
  const many = Array.from({ length: 100 }, (_, seq) => frame(seq, crowd));
  const segment = encodeFrameSegment(many);
  expect(segment.length).toBeLessThan(10 * many.length);
  expect(decodeFrameSegment(segment).frames).toEqual(many);
});

const withChecksum = (content: Uint8Array) => {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([content, checksum]);
};

test('a segment with any change is refused or holds frames that could have come by themselves', () => {
  const whole = encodeFrameSegment([
    frame(3, [person('1'), person('2')], { is_live: true }),
    frame(4, [{ ...person('1'), score: 1 / 3 }], { is_live: true }),
    frame(9, [], { is_live: true }),
  ]);
  const crowd = Array.from({ length: 20 }, (_, track) => person(String(track)));
  const compressed = encodeFrameSegment(Array.from({ length: 30 }, (_, seq) => frame(seq, crowd)));
  for (const segment of [whole, compressed]) changeAtRandom(segment);
});

function changeAtRandom(whole: Buffer) {
  const change = fc.record({ at: fc.nat(whole.length - 1), value: fc.nat(255), isCut: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.boolean(), (changes, isForged) => {
      let bytes = Buffer.from(whole);
      for (const { at, value, isCut } of changes) {
        if (isCut) bytes = bytes.subarray(0, Math.max(at, 4));
        else if (at < bytes.length) bytes[at] = value;
      }
      const attempted = isForged ? withChecksum(bytes.subarray(0, -4)) : bytes;
      if (attempted.equals(whole)) return;
      let segment;
      try {
        segment = decodeFrameSegment(attempted);
      } catch (error) {
        expect(error).toBeInstanceOf(SegmentDamagedError);
        expect(segmentProduced.schema.safeParse(attempted).success).toBe(false);
        return;
      }
      expect(isForged).toBe(true);
      expect(segment.frames.map(asSingle)).toEqual(segment.frames);
    }),
    { numRuns: 800 },
  );
}

test('a content that unpacks to something else than its header says is refused', () => {
  const crowd = Array.from({ length: 20 }, (_, track) => person(String(track)));
  const whole = encodeFrameSegment(Array.from({ length: 30 }, (_, seq) => frame(seq, crowd)));
  const reader = new ByteReader(whole);
  for (let at = 0; at < 19; at += 1) reader.byte();
  for (let numbers = 0; numbers < 2; numbers += 1) reader.unsigned();
  const at = whole.length - reader.left();
  const saying = (length: number) => {
    const out = new ByteWriter();
    out.unsigned(length);
    const rest = new ByteReader(whole.subarray(at));
    rest.unsigned();
    const content = whole.subarray(whole.length - rest.left(), -4);
    return withChecksum(Buffer.concat([whole.subarray(0, at), out.written(), content]));
  };
  const length = reader.unsigned();
  expect(decodeFrameSegment(saying(length)).frames).toHaveLength(30);
  expect(() => decodeFrameSegment(saying(length - 1))).toThrow('it cannot be decompressed');
  expect(() => decodeFrameSegment(saying(length + 1))).toThrow('another length than it says');
  expect(() => decodeFrameSegment(saying(2 ** 40))).toThrow('its content says that it has');
});

test('a few bytes that stand for many are refused before they are unpacked', () => {
  const long = 'x'.repeat(60_000);
  const many = Array.from({ length: 100 }, (_, track) => person(String(track), long));
  expect(() => decodeFrameSegment(encodeFrameSegment([frame(0, many)]))).toThrow('a size of 6');
  const most = Array.from({ length: 10_000 }, (_, track) => person(String(track)));
  expect(decodeFrameSegment(encodeFrameSegment([frame(0, most)])).frames[0]?.objects).toHaveLength(10_000);
  const tooMany = [...most, person('one too many')];
  expect(() => decodeFrameSegment(encodeFrameSegment([frame(0, tooMany)]))).toThrow('frame 0 is none: objects');
  const tooLong = Array.from({ length: 513 }, (_, seq) => frame(seq));
  expect(() => decodeFrameSegment(encodeFrameSegment(tooLong))).toThrow('it says that it has 513 frames');
});

test.each([
  ['a score above 1', { objects: [{ ...person('1'), score: 1.5 }] }],

  ['a picture without a side', { image: { width: 0, height: 1 } }],
  ['a number that no store takes', { image: { width: 2 ** 31, height: 1 } }],
])('a frame with %s is refused', (_what, facts) => {
  const forged = encodeFrameSegment([frame(0), frame(1, [], facts)]);
  expect(() => decodeFrameSegment(forged)).toThrow(SegmentDamagedError);
});

test('bytes that are no segment are refused with the reason', () => {
  expect(() => decodeFrameSegment(Buffer.alloc(0))).toThrow('it ends too early');
  expect(() => decodeFrameSegment(Buffer.alloc(40))).toThrow('its checksum is wrong');
  expect(() => decodeFrameSegment(withChecksum(Buffer.from([1, 0, 0])))).toThrow('its version is 1');
  expect(segmentProduced.schema.safeParse(null).success).toBe(false);
  expect(segmentProduced.schema.safeParse({ job_id: JOBS[0] }).success).toBe(false);
});
