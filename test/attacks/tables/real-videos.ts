import { deflateSync } from 'node:zlib';
import { box, boxesOf, changeAt, replaceBox, withMatrix, words } from '@vision/shared/testing/mp4-boxes';
import { madeVideo } from '../../support/video.ts';
import type { AttackGroup } from '../attack.ts';
import { REFUNDED, row } from './videos.ts';

const ENCODER = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-bf', '0'];
const real = () => madeVideo('a.mp4', '-f', 'lavfi', '-i', 'testsrc2=d=1:s=64x64', ...ENCODER);

/** A real video, whose tracks can be played, with its index changed in one place. */
const changed = (change: (index: Buffer) => Buffer) => async () =>
  replaceBox(await real(), 'moov', (index) => change(index));
const inIndex = (change: (index: Buffer) => Buffer) => changed((index) => box('moov', change(index)));

const EDITS = 200_000;
const editList = (declared = EDITS) => box('elst', words(0, declared), Buffer.alloc(EDITS * 12, words(1, 0, 0x10000)));
const manyEdits = (index: Buffer) => changeAt(index, ['trak', 'edts'], () => editList());
const SIXTH_OF_A_TURN = [0.5, 0.866, -0.866, 0.5];
const oblique = (index: Buffer) => changeAt(index, ['trak', 'tkhd'], (header) => withMatrix(header, SIXTH_OF_A_TURN));

const tracks = (index: Buffer) =>
  boxesOf(index)
    .filter(({ type }) => type === 'trak')
    .map(({ data }) => box('trak', data));
const rest = (index: Buffer) =>
  box(
    'moov',
    replaceBox(index, 'trak', () => Buffer.of()),
  );
const zipped = (index: Buffer) =>
  box('cmov', box('dcom', Buffer.from('zlib')), box('cmvd', words(index.length), deflateSync(index)));

const SPELLINGS: Record<string, (index: Buffer) => Buffer> = {
  'in an index': (index) => box('moov', index),
  'in an index by another name': (index) => box('hoov', index),
  'in free space that begins like an index': (index) => box('free', index),
  'in a zipped index': (index) => box('moov', zipped(index)),
  'in tracks before the index': (index) => Buffer.concat([...tracks(index), rest(index)]),
  'in tracks behind the index': (index) => Buffer.concat([rest(index), ...tracks(index)]),
};
const spelt = (what: string, hostile: (index: Buffer) => Buffer) =>
  Object.entries(SPELLINGS).map(([where, hide]) =>
    row(
      `a real video, ${what} ${where}`,
      REFUNDED,
      changed((index) => hide(hostile(index))),
    ),
  );
const inTrack = (path: string[], change: (data: Buffer) => Buffer) =>
  inIndex((index) => changeAt(index, ['trak', ...path], change));
const appended =
  (...more: Buffer[]) =>
  (data: Buffer) =>
    Buffer.concat([data, ...more]);

/** Each plays when nothing validates it: the decoder alone would take it. */
export const realVideos: AttackGroup = {
  title: 'Real videos with one change',
  wanted: 'minutes of the processor of all, by tracks that play',
  withinMs: 40_000,
  atOnce: 3,
  attacks: [
    ...spelt('200,000 edits', manyEdits),
    ...spelt('a turn by 60 degrees', oblique),
    row(
      'a real video, 200,000 edits that count as one',
      REFUNDED,
      inTrack(['edts'], () => editList(1)),
    ),
    row('a real video, 200,000 edits among user data', REFUNDED, inTrack([], appended(box('udta', editList())))),
    row(
      'a real video, 200,000 edits in a sample description',
      REFUNDED,
      inTrack(['mdia', 'minf', 'stbl', 'stsd'], (data) => {
        const description = Buffer.concat([data.subarray(8), editList()]);
        description.writeUInt32BE(description.length);
        return Buffer.concat([data.subarray(0, 8), description]);
      }),
    ),
    row(
      'a real video, a movie that is turned by 60 degrees',
      REFUNDED,
      inIndex((index) => changeAt(index, ['mvhd'], (header) => withMatrix(header, SIXTH_OF_A_TURN, 36))),
    ),
    row(
      'a real video with 1,000 tracks',
      REFUNDED,
      inIndex((index) => Buffer.concat([index, ...Array.from({ length: 1_000 }, () => tracks(index)).flat()])),
    ),
  ],
};
