import { expect, test } from '@jest/globals';
import type { TrackedObject } from '@vision/contracts/detection';
import { selectObjects, toStored } from '../stored-objects.ts';
import { SegmentDamagedError } from '@vision/contracts/segments/bytes';
import type { SegmentBody } from './column-body.ts';
import { decodeHeads } from '@vision/contracts/segments/head';
import { MAX_UNPACKED_BYTES, pack } from '@vision/contracts/segments/pack';
import { encodeSegment, MAX_SPAN, openBody, splitIntoSegments } from './segment.ts';
import type { SegmentFrame } from './segment.ts';

/** A generator of numbers with the same sequence in each run. */
function generator(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ODD_TEXTS = ['person', '', '7', 'a\nb\r\u2028"\\,]\u0000', '\ud800', '__proto__', 'ünï 人', 'x'.repeat(3_000)];
const ODD_NUMBERS = [0, -0, 1, 0.5, 1e-7, 5e-324, 1 - Number.EPSILON / 2, 0.1 + 0.2, 0.123456, 0.1234567, 1 / 3];
const ODD_TIMES = [0, -1, 1, 40, 1_780_000_000_000, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

type Random = ReturnType<typeof generator>;
const one = <T>(random: Random, values: readonly T[]): T => values[random(values.length)] as T;
const unit = (random: Random, decimals: number) => random(10 ** decimals + 1) / 10 ** decimals;

function anyObject(random: Random, kind: number): TrackedObject {
  const number = () => (kind === 2 && random(3) === 0 ? one(random, ODD_NUMBERS) : unit(random, kind === 0 ? 4 : 6));
  const [x, y] = [edgesOf(random), edgesOf(random)];
  return {
    label: kind >= 2 ? one(random, ODD_TEXTS) : one(random, ['person', 'car']),
    score: kind === 3 ? one(random, [0, 1, unit(random, 4)]) : number(),
    bbox:
      kind === 3
        ? { format: 'cxcywh_normalized', cx: x.centre, cy: y.centre, width: x.size, height: y.size }
        : { format: 'cxcywh_normalized', cx: number(), cy: number(), width: number(), height: number() },
    track_id: kind >= 2 ? one(random, ODD_TEXTS) : String(random(12)),
  };
}

/** One side of a box whose edges have five decimals, often at the limits of the frame. */
function edgesOf(random: Random): { centre: number; size: number } {
  const low = one(random, [0, random(100_001)]);
  const high = one(random, [low, 100_000, low + random(100_001 - low)]);
  return { centre: (5 * (low + high)) / 1e6, size: (high - low) / 1e5 };
}

function anyFrames(random: Random, kind: number): SegmentFrame[] {
  let seq = random(1_000);
  return Array.from({ length: 1 + random(40) }, (_, index): SegmentFrame => {
    seq += 1 + random(3);
    const objects = Array.from({ length: one(random, [0, random(12), kind === 3 ? 300 : 1]) }, () =>
      anyObject(random, kind),
    ).sort((a, b) => b.score - a.score);
    return {
      seq,
      position: index + random(50),
      attempt: random(3),
      frameTimeMs: kind === 2 ? one(random, ODD_TIMES) : seq * 200,
      width: kind === 2 ? one(random, [1, 2 ** 31 - 1]) : 1920,
      height: 1080,
      objects: kind === 2 && random(4) === 0 ? oddText(random) : objects,
    };
  });
}

/** Rows with values that an earlier release, or a manual change, may have stored. */
const oddText = (random: Random) =>
  one(random, [
    '',
    '{"score":0.5,"label":"x","new":{"a":1}}',
    '{"label":"a","score":1e-1}\n{"score":0.05,"label":"b"}',
  ]);

const textOf = (objects: SegmentFrame['objects']) => (typeof objects === 'string' ? objects : toStored([...objects]));

function selected(body: SegmentBody, index: number, minScore: number) {
  const { json, total } = body.select(index, minScore);
  return { json: typeof json === 'string' ? json : Buffer.from(json).toString(), total };
}

/** How the same frame would be shown from a row. */
const shownAsRow = ({ objects }: SegmentFrame, minScore: number) => selectObjects(textOf(objects), minScore);

test.each([
  ['of few decimals', 0],
  ['of six decimals', 1],
  ['of every kind that can be stored', 2],
  ['of boxes as our own backend publishes them', 3],
])('frames with numbers %s come back to the last digit, at every score', (_name, kind) => {
  const random = generator(20 + kind);
  for (let round = 0; round < (kind === 3 ? 4 : 60); round += 1) {
    const frames = anyFrames(random, kind);
    const { heads, body } = encodeSegment(frames, round % 2 === 0 ? 'fast' : 'small');
    const decoded = decodeHeads(heads);
    expect(decoded.map(({ objects: _, ...head }) => head)).toEqual(frames.map(({ objects: _, ...head }) => head));
    const opened = openBody(body, decoded);
    for (const minScore of [0, 0.5, one(random, ODD_NUMBERS)])
      expect(frames.map((_, index) => selected(opened, index, minScore))).toEqual(
        frames.map((frame) => shownAsRow(frame, minScore)),
      );
    expect(decoded.map(({ objects }) => objects)).toEqual(frames.map((frame) => shownAsRow(frame, 0).total));
    expect(frames.map((_, index) => textOf(opened.objectsOf(index)))).toEqual(
      frames.map(({ objects }) => textOf(objects)),
    );
  }
});

test('the facts of a segment are its frames, attempts, times, labels and scores', () => {
  const object = (score: number, label: string): TrackedObject => ({
    label,
    score,
    bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.1, height: 0.2 },
    track_id: '1',
  });
  const frame = (seq: number, attempt: number, objects: SegmentFrame['objects']): SegmentFrame => ({
    seq,
    attempt,
    position: seq + 100,
    frameTimeMs: 5_000 - seq,
    width: 4,
    height: 3,
    objects,
  });
  const frames = [frame(3, 1, []), frame(5, 1, [object(0.7, 'car')]), frame(6, 2, [object(0.91, 'bus')])];
  expect(encodeSegment(frames, 'fast').facts).toEqual({
    firstSeq: 3,
    lastSeq: 6,
    firstPosition: 103,
    lastPosition: 106,
    firstTimeMs: 4_994,
    lastTimeMs: 4_997,
    frames: 3,
    attempts: { 1: [2, 3, 5], 2: [1, 6, 6] },
    labels: ['bus', 'car'],
    bestScore: 0.91,
  });
  expect(encodeSegment([frame(1, 1, [])], 'fast').facts).toMatchObject({ labels: [], bestScore: undefined });
});

test('frames are cut into segments that are bounded in number, span and size', () => {
  const frame = (seq: number, text = ''): SegmentFrame => ({
    seq,
    position: seq,
    attempt: 1,
    frameTimeMs: 0,
    width: 1,
    height: 1,
    objects: text,
  });
  const lengths = (frames: SegmentFrame[]) => splitIntoSegments(frames).map((run) => run.length);
  expect(lengths([])).toEqual([]);
  expect(lengths(Array.from({ length: 1_300 }, (_, seq) => frame(seq)))).toEqual([600, 600, 100]);
  expect(lengths([frame(0), frame(MAX_SPAN - 1), frame(MAX_SPAN)])).toEqual([2, 1]);
  expect(lengths([0, 1, 2].map((seq) => frame(seq, 'x'.repeat(3 * 1024 * 1024))))).toEqual([1, 1, 1]);
});

test('a damaged segment is never shown with other contents, with damage at any position', () => {
  const random = generator(7);
  const frames = anyFrames(random, 1).slice(0, 8);
  const { heads, body } = encodeSegment(frames, 'small');
  const decoded = decodeHeads(heads);
  const whole = shown(() => openBody(body, decoded), frames.length);
  for (const packed of [body, heads]) {
    const read = (bytes: Buffer) =>
      packed === body ? shown(() => openBody(bytes, decoded), frames.length) : damage(() => decodeHeads(bytes));
    const intact = packed === body ? whole : JSON.stringify(decoded);
    for (let at = 0; at < packed.length; at += 1) {
      const damaged = Buffer.from(packed);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << random(8));
      // Some bits of the compressed form mean nothing.
      expect(['damaged', intact]).toContain(read(damaged));
      expect(read(packed.subarray(0, at))).toBe('damaged');
    }
  }
});

/** Everything of a body as text, or `damaged`. */
const shown = (open: () => SegmentBody, frames: number) =>
  damage(() => {
    const body = open();
    return Array.from({ length: frames }, (_, index) => selected(body, index, 0));
  });

function damage(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    if (error instanceof SegmentDamagedError) return 'damaged';
    throw error;
  }
}

test('a forged segment can neither crash a reader nor take memory without bound', () => {
  const random = generator(99);
  for (let round = 0; round < 600; round += 1) {
    const content = Buffer.from(
      Array.from({ length: random(200) }, () => one(random, [0, 1, 127, 128, 255, random(256)])),
    );
    for (const open of [() => decodeHeads(pack(content, 'fast')), () => openBody(pack(content, 'fast'), [])]) {
      try {
        open();
      } catch (error) {
        expect(error).toBeInstanceOf(SegmentDamagedError);
      }
    }
  }
  const bomb = pack(Buffer.alloc(MAX_UNPACKED_BYTES), 'fast');
  expect(bomb.length).toBeLessThan(10_000);
  expect(() => decodeHeads(bomb)).not.toThrow(RangeError);
  bomb.writeUInt32BE(100, 2);
  expect(() => decodeHeads(bomb)).toThrow(SegmentDamagedError);
  bomb.writeUInt32BE(MAX_UNPACKED_BYTES + 1, 2);
  expect(() => decodeHeads(bomb)).toThrow('it says that it has');
});
