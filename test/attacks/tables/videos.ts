import { until } from '@vision/shared/testing/until';
import { box, words } from '@vision/shared/testing/mp4-boxes';
import { form, scene } from '../../support/system.ts';
import { madeVideo, video } from '../../support/video.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, said } from '../say.ts';

const UNSUPPORTED = invalid('file_type_unsupported');
/** Taken as a file, refused by the backend, and paid back. */
export const REFUNDED = '201, refunded';

/** A video that is uploaded, and what becomes of its task. */
export const row = (name: string, expected: string, make: () => Promise<Buffer> | Buffer): Attack => ({
  name,
  expected,
  attempt: async (target) => {
    const caller = await target.caller();
    const created = await caller.createUpload(form(video(await make()), scene('person_vehicle')));
    if (created.status !== 201) return said(created);
    const path = `/v1/vision/tasks/${String(created.body['task_id'])}`;
    const status = await until(
      async () => {
        const now = String((await caller.get(path)).body['status']);
        return ['submitting', 'running', 'resolving'].includes(now) ? undefined : now;
      },
      { timeoutMs: 25_000 },
    );
    return `201, ${status}`;
  },
});

const FTYP = box('ftyp', Buffer.from('isom'), words(0), Buffer.from('isom'));
const text = (content: string) => Buffer.concat([FTYP, Buffer.from(content)]);
const ONE = 0x10000;
const matrix = (...turn: number[]) =>
  box('tkhd', words(0, 0, 0, 1, 0, 0, 0, 0, 0, 0), words(...turn, 0, 0, 0x40000000), words(0, 0));
const track = (...parts: Buffer[]) => box('trak', ...parts);
const table = (type: string, entries: number, held: Buffer) => box(type, words(0, entries), held);
const samples = (...tables: Buffer[]) => track(box('mdia', box('minf', box('stbl', ...tables))));
const movie = (...parts: Buffer[]) => Buffer.concat([FTYP, box('moov', ...parts), box('mdat')]);

/** A real video, with a part of its index replaced. */
async function changed(type: string, change: (bytes: Buffer, at: number) => void): Promise<Buffer> {
  const bytes = await madeVideo('a.mp4', '-f', 'lavfi', '-i', 'testsrc2=d=1:s=64x64', '-c:v', 'libx264');
  change(bytes, bytes.indexOf(type, 0, 'latin1') + 4);
  return bytes;
}

export const videos: AttackGroup = {
  title: 'Hostile video files',
  wanted: 'files of the service, addresses inside, or the processor of all, by what ffmpeg does with a file',
  withinMs: 40_000,
  atOnce: 3,
  attacks: [
    row('a playlist', UNSUPPORTED, () => Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n')),
    row('a playlist behind the beginning of a video', REFUNDED, () =>
      text('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'),
    ),
    row('a list of files behind the beginning of a video', REFUNDED, () =>
      text("ffconcat version 1.0\nfile '/etc/passwd'\n"),
    ),
    row('a list of files', UNSUPPORTED, () => Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\n")),
    row('a session description', UNSUPPORTED, () =>
      Buffer.from('v=0\r\nc=IN IP4 10.0.0.1\r\nm=video 1 RTP/AVP 96\r\n'),
    ),
    row('an AVI with a playlist in it', UNSUPPORTED, () =>
      Buffer.from('RIFF\0\0\0\0AVI GAB2#EXTM3U\nfile:///etc/passwd\n'),
    ),
    row('a Matroska file', UNSUPPORTED, () => Buffer.from('1a45dfa3934282886d6174726f736b61', 'hex')),
    row('an image in HEIF', UNSUPPORTED, () =>
      Buffer.concat([box('ftyp', Buffer.from('heic'), words(0), Buffer.from('mif1')), box('mdat')]),
    ),
    row('nothing', UNSUPPORTED, () => Buffer.of()),
    row('no index', REFUNDED, () => Buffer.concat([FTYP, box('mdat', Buffer.alloc(100))])),
    row('two indexes', REFUNDED, () => Buffer.concat([movie(track()), box('moov', track())])),
    row('references to other files', REFUNDED, () =>
      movie(samples(box('dref', words(0, 1), box('url ', words(0), Buffer.from('file:///etc/passwd\0'))))),
    ),
    row('200,000 edits', REFUNDED, () => movie(track(box('edts', table('elst', 200_000, Buffer.alloc(200_000 * 12)))))),
    row('edits that are not there', REFUNDED, () =>
      movie(track(box('edts', table('elst', 0x7fffffff, Buffer.alloc(24))))),
    ),
    row('an odd rotation', REFUNDED, () => movie(track(matrix(46_341, 46_341, 0, -46_341, 46_341, 0)))),
    row('a matrix that scales by 5,000', REFUNDED, () => movie(track(matrix(5_000 * ONE, 0, 0, 0, 5_000 * ONE, 0)))),
    row('a table of a billion entries', REFUNDED, () => movie(samples(table('stts', 1_000_000_000, words(1, 2))))),
    row('sizes of two billion samples', REFUNDED, () => movie(samples(box('stsz', words(0, 0, 0x7fffffff))))),
    row('1,000 tracks', REFUNDED, () => movie(...Array.from({ length: 1_000 }, () => track()))),
    row('boxes within boxes, 10,000 deep', REFUNDED, () =>
      movie(Array.from({ length: 10_000 }).reduce<Buffer>((inner) => box('edts', inner), box('free'))),
    ),
    row('a million empty boxes', REFUNDED, () => Buffer.concat([FTYP, Buffer.alloc(8_000_000, box('free'))])),
    row('a box of 2⁶³ bytes', REFUNDED, () =>
      Buffer.concat([FTYP, words(1), Buffer.from('moov'), words(0x7fffffff, -1)]),
    ),
    row('an index of 100 MiB that is not there', REFUNDED, () =>
      Buffer.concat([FTYP, words(100 * 1024 * 1024), Buffer.from('moov'), Buffer.alloc(64)]),
    ),
    row('a real video whose tables lie', REFUNDED, () =>
      changed('stts', (bytes, at) => bytes.writeUInt32BE(0x7fffffff, at + 4)),
    ),
    row('a real video in a codec that is none', REFUNDED, () =>
      changed('stsd', (bytes, at) => bytes.write('zzzz', at + 12)),
    ),
    row('sound alone', REFUNDED, () => madeVideo('a.mp4', '-f', 'lavfi', '-i', 'sine=d=1')),
  ],
};
