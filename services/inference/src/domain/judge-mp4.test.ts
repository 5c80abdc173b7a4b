import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { judgeMp4, Mp4RefusedError } from './judge-mp4.ts';

const box = (type: string, ...parts: Buffer[]) => {
  const data = Buffer.concat(parts);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(data.length + 8);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, data]);
};
const words = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeInt32BE(value | 0, 4 * index));
  return bytes;
};
const ONE = 0x10000;
const trackHeader = (matrix: number[]) =>
  box('tkhd', words(0, 0, 0, 1, 0, 0, 0, 0, 0, 0), words(...matrix), words(0, 0));
const upright = [ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000];
const track = (...more: Buffer[]) => box('trak', trackHeader(upright), ...more);
const table = (type: string, declared: number, held: Buffer) => box(type, words(0, declared), held);
const samples = (...tables: Buffer[]) => box('mdia', box('minf', box('stbl', ...tables)));
const file = (...moov: Buffer[]) =>
  Buffer.concat([box('ftyp', Buffer.from('isom')), box('moov', ...moov), box('mdat')]);

async function verdictOn(bytes: Buffer): Promise<string> {
  try {
    await judgeMp4(async (at, length) => bytes.subarray(at, at + length), bytes.length);
    return 'accepted';
  } catch (error) {
    return error instanceof Mp4RefusedError ? error.message : String(error);
  }
}

test.each<[string, Buffer]>([
  ['one track', file(track(samples(table('stts', 2, words(1, 2, 3, 4)))))],
  ['a quarter turn', file(box('trak', trackHeader([0, ONE, 0, -ONE, 0, 0, 0, 0, 0x40000000])))],
  ['a mirrored picture', file(box('trak', trackHeader([-ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000])))],
  ['an edit list of two entries', file(track(box('edts', table('elst', 2, Buffer.alloc(24)))))],
  ['one size for all samples', file(track(samples(box('stsz', words(0, 100, 1_000_000)))))],
  [
    'a long header of the data',
    Buffer.concat([file(track()), words(1), Buffer.from('mdat'), words(0, 24), words(0, 0)]),
  ],
])('%s is accepted', async (_name, bytes) => {
  expect(await verdictOn(bytes)).toBe('accepted');
});

test.each<[string, Buffer, string]>([
  ['200,000 edits', file(track(box('edts', table('elst', 200_000, Buffer.alloc(24))))), 'too many edits'],
  [
    'a table with less than it declares',
    file(track(samples(table('stts', 1_000_000_000, words(1, 2))))),
    'a table declares more entries than it holds',
  ],
  [
    'sample sizes that are not there',
    file(track(samples(box('stsz', words(0, 0, 0x7fffffff))))),
    'a table declares more entries than it holds',
  ],
  [
    'an odd rotation',
    file(box('trak', trackHeader([46341, 46341, 0, -46341, 46341, 0, 0, 0, 0x40000000]))),
    'an odd rotation',
  ],
  ['a scaling matrix', file(box('trak', trackHeader([5 * ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000]))), 'an odd rotation'],
  ['33 tracks', file(...Array.from({ length: 33 }, () => track())), 'too many tracks'],
  ['two indexes', Buffer.concat([file(track()), box('moov', track())]), 'more than one index'],
  [
    'a box larger than its parent',
    file(Buffer.concat([words(9_999), Buffer.from('trak')])),
    'a box is larger than the one around it',
  ],
  ['a box smaller than its header', Buffer.concat([words(4), Buffer.from('ftyp')]), 'a box is smaller than its header'],
  [
    'boxes within boxes without end',
    file(Array.from({ length: 20 }).reduce<Buffer>((inner) => box('edts', inner), box('free'))),
    'too many boxes',
  ],
  [
    'an index of 100 MiB',
    Buffer.concat([words(100 * 1024 * 1024), Buffer.from('moov'), Buffer.alloc(64)]),
    'the index is too large',
  ],
])('%s: refused', async (_name, bytes, reason) => {
  expect(await verdictOn(bytes)).toBe(reason);
});

test('a million empty boxes are refused after a few hundred reads', async () => {
  const bytes = Buffer.alloc(8_000_000, box('free'));
  let reads = 0;
  const judged = judgeMp4(async (at, length) => {
    reads += 1;
    return bytes.subarray(at, at + length);
  }, bytes.length);
  await expect(judged).rejects.toThrow('too many boxes');
  expect(reads).toBeLessThan(1_000);
});

test('whatever the bytes, it ends with a verdict', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('moov', 'trak', 'elst', 'tkhd', 'stsz', 'stts'),
      async (bytes, type) => {
        expect(await verdictOn(file(box(type, Buffer.from(bytes))))).not.toMatch(/RangeError|TypeError/);
      },
    ),
    { numRuns: 2_000 },
  );
});
