import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Mp4RefusedError } from './box.ts';
import { validateMp4 } from './validate-mp4.ts';

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
const trackHeader = (matrix: number[], id = 1) =>
  box('tkhd', words(0, 0, 0, id, 0, 0, 0, 0, 0, 0), words(...matrix), words(0, 0));
const upright = [ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000];
const oblique = [46341, 46341, 0, -46341, 46341, 0, 0, 0, 0x40000000];
const movieHeader = (matrix = upright) =>
  box('mvhd', words(0, 0, 0, 1000, 0, ONE, 0, 0, 0), words(...matrix), words(0, 0, 0, 0, 0, 0, 2));
const track = (...more: Buffer[]) => box('trak', trackHeader(upright), ...more);
const table = (type: string, declared: number, held: Buffer) => box(type, words(0, declared), held);
const samples = (...tables: Buffer[]) => box('mdia', box('minf', box('stbl', ...tables)));
const around = (...boxes: Buffer[]) => Buffer.concat([box('ftyp', Buffer.from('isom')), ...boxes, box('mdat')]);
const file = (...moov: Buffer[]) => around(box('moov', movieHeader(), ...moov));
/** What cameras keep: values under names of their own. */
const userData = (...boxes: Buffer[]) => box('udta', ...boxes);
const edits = (entries: number) => box('edts', table('elst', entries, Buffer.alloc(12 * entries)));
const description = (...boxes: Buffer[]) => {
  const entry = box('avc1', Buffer.alloc(78), ...boxes);
  return samples(table('stsd', 1, entry));
};

async function verdictOn(bytes: Buffer): Promise<string> {
  try {
    await validateMp4(async (at, length) => bytes.subarray(at, at + length), bytes.length);
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

test.each<[string, Buffer]>([
  [
    'vendor boxes of a camera',
    file(userData(box('GPMF', Buffer.alloc(40)), box('\xa9xyz', Buffer.alloc(8)), words(0))),
  ],
  [
    'a uuid at every place',
    around(
      box('uuid', Buffer.alloc(16)),
      box('moov', movieHeader(), box('uuid', Buffer.alloc(16)), track(box('uuid', Buffer.alloc(16)))),
    ),
  ],
  ['the aperture of QuickTime', file(track(box('tapt', box('clef', Buffer.alloc(12)))))],
  ['zeros at the end', Buffer.concat([file(track()), Buffer.alloc(100_000)])],
  ['a track that plays two edits', file(track(edits(2)))],
])('%s: accepted', async (_name, bytes) => {
  expect(await verdictOn(bytes)).toBe('accepted');
});

test.each<[string, Buffer, string]>([
  ['200,000 edits', file(track(box('edts', table('elst', 200_000, Buffer.alloc(24))))), "'elst' holds too many edits"],
  [
    'edits that the count does not tell',
    file(track(box('edts', table('elst', 1, Buffer.alloc(12 * 200_000))))),
    "'elst' holds too many edits",
  ],
  [
    'a table with less than it declares',
    file(track(samples(table('stts', 1_000_000_000, words(1, 2))))),
    "'stts' declares more than it holds",
  ],
  [
    'sample sizes that are not there',
    file(track(samples(box('stsz', words(0, 0, 0x7fffffff))))),
    "'stsz' declares more than it holds",
  ],
  ['an odd rotation', file(box('trak', trackHeader(oblique))), "'tkhd' holds an odd rotation"],
  ['an odd rotation of the movie', around(box('moov', movieHeader(oblique), track())), "'mvhd' holds an odd rotation"],
  [
    'a scaling matrix',
    file(box('trak', trackHeader([5 * ONE, 0, 0, 0, ONE, 0, 0, 0, 0x40000000]))),
    "'tkhd' holds an odd rotation",
  ],
  [
    '33 tracks',
    file(...Array.from({ length: 33 }, (_, id) => box('trak', trackHeader(upright, id)))),
    "more 'trak' than a video needs",
  ],
  ['two tracks of one number', file(track(), track()), "two 'tkhd' of one track"],
  ['two indexes', Buffer.concat([file(track()), box('moov', track())]), "more than one 'moov' in 'file'"],
  [
    'a box larger than its parent',
    file(Buffer.concat([words(9_999), Buffer.from('trak')])),
    "'trak' is larger than 'moov' around it",
  ],
  [
    'a box smaller than its header',
    Buffer.concat([words(4), Buffer.from('ftyp')]),
    "'ftyp' is smaller than its header",
  ],
  [
    'boxes within boxes without end',
    file(Array.from({ length: 20 }).reduce<Buffer>((inner) => box('edts', inner), box('free'))),
    "'edts' in 'moov'",
  ],
  [
    'an index of 100 MiB',
    Buffer.concat([words(100 * 1024 * 1024), Buffer.from('moov'), Buffer.alloc(64)]),
    "'moov' is too large",
  ],
  ['an index by another name', around(box('hoov', movieHeader(), track())), "'hoov' in 'file'"],
  ['an index in free space', around(box('free', movieHeader(), track())), "an index in 'free'"],
  ['an index in skipped space', around(box('skip', movieHeader(), track())), "an index in 'skip'"],
  ['a zipped index', around(box('moov', box('cmov', Buffer.alloc(64)))), "'cmov' in 'moov'"],
  ['a track outside of the index', around(box('moov', movieHeader()), track()), "'trak' in 'file'"],
  ['a track before the header', around(box('moov', track(), movieHeader())), "'trak' before 'mvhd'"],
  ['edits among user data', file(track(userData(table('elst', 1, Buffer.alloc(12))))), "'elst' in 'udta'"],
  [
    'edits among tags',
    file(userData(box('meta', words(0), box('hdlr', Buffer.alloc(24)), box('ilst', edits(1))))),
    "'edts' in 'ilst'",
  ],
  [
    'edits where a handler begins later',
    file(userData(box('meta', words(0, 0, 0), box('hdlr', Buffer.alloc(24)), edits(1)))),
    "'edts' in 'meta'",
  ],
  ['edits in a fragment', Buffer.concat([file(track()), box('moof', box('traf', edits(1)))]), "'edts' in 'traf'"],
  ['edits in a sample description', file(track(description(table('elst', 1, Buffer.alloc(12))))), "'elst' in 'stsd'"],
  [
    'a description that reaches into what follows',
    file(track(samples(table('stsd', 1, Buffer.concat([words(90_000), Buffer.from('avc1'), Buffer.alloc(78)]))))),
    "'stsd' declares more than it holds",
  ],
  ['two edit lists', file(track(edits(1), edits(1))), "more than one 'edts' in 'trak'"],
  ['a box that nobody knows', file(box('\x01\x02\n!')), "0x01020a21 in 'moov'"],
])('%s: refused', async (_name, bytes, reason) => {
  expect(await verdictOn(bytes)).toBe(reason);
});

test('a million empty boxes are refused after a few hundred reads', async () => {
  const bytes = Buffer.alloc(8_000_000, box('free'));
  let reads = 0;
  const validated = validateMp4(async (at, length) => {
    reads += 1;
    return bytes.subarray(at, at + length);
  }, bytes.length);
  await expect(validated).rejects.toThrow('more boxes than a video needs');
  expect(reads).toBeLessThan(1_000);
});

test('for any bytes, it ends with a verdict', async () => {
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
