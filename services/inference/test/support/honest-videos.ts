import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { box, changeAt, replaceBox, words } from '@vision/shared/testing/mp4-boxes';
import type { videoDirectory } from './videos.ts';

type Videos = Awaited<ReturnType<typeof videoDirectory>>;

const MUXERS = ['mp4', 'mov', 'ipod', 'psp', 'ismv', 'f4v', '3gp', '3g2'];
/** Every flag of ffmpeg's muxer, alone or with what it needs. */
const FLAGS = `rtphint empty_moov frag_keyframe frag_every_frame separate_moof+frag_keyframe frag_custom+empty_moov
  isml+frag_keyframe faststart omit_tfhd_offset+frag_keyframe disable_chpl default_base_moof+frag_keyframe
  dash+frag_keyframe cmaf+frag_keyframe frag_discont+frag_keyframe delay_moov+frag_keyframe
  global_sidx+dash+frag_keyframe skip_sidx+dash+frag_keyframe write_colr write_colr+prefer_icc write_gama
  use_metadata_tags skip_trailer+frag_keyframe negative_cts_offsets`.split(/\s+/);

const clip = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=10:d=1'];
const tone = ['-f', 'lavfi', '-i', 'sine=d=1'];
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '5'];
const chapters = `;FFMETADATA1\ntitle=a\n${['one', 'two']
  .map((title, index) => `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${index * 500}\nEND=${index * 500 + 500}\ntitle=${title}\n`)
  .join('')}`;

/** Files as ffmpeg writes them: each muxer, each of its flags, codecs, sound, subtitles, chapters, covers, timecode. */
export async function writtenByFfmpeg(videos: Videos): Promise<string[]> {
  const { make, directory } = videos;
  const source = await make('source.mp4', ...clip, ...tone, ...h264, '-c:a', 'aac');
  const copy = (name: string, ...args: string[]) => make(name, '-i', source, '-c', 'copy', ...args);
  const made: string[] = [source];
  for (const muxer of MUXERS) made.push(await copy(`plain-${muxer}.mp4`, '-f', muxer));
  for (const flags of FLAGS) {
    const options = ['-metadata', 'title=t', '-metadata', 'com.example.key=v', '-movflags', flags];
    for (const muxer of ['mp4', 'mov']) made.push(await copy(`${flags}-${muxer}.mp4`, ...options, '-f', muxer));
  }
  const texts = { 'chapters.txt': chapters, 'words.srt': '1\n00:00:00,000 --> 00:00:01,000\nhello\n' };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, name), text);
  const cover = await make('cover.png', ...clip, '-frames:v', '1');
  const withInput = (input: string) => ['-i', join(directory, input), '-c', 'copy'];
  made.push(
    await make('chapters.mov', '-i', source, ...withInput('chapters.txt'), '-map_metadata', '1'),
    await make('chapters.mp4', '-i', source, ...withInput('chapters.txt'), '-map_metadata', '1'),
    await make('words.mp4', '-i', source, ...withInput('words.srt'), '-c:s', 'mov_text'),
    await make(
      'cover.mp4',
      '-i',
      source,
      '-i',
      cover,
      ...'-map 0 -map 1 -c copy -disposition:v:1 attached_pic'.split(' '),
    ),
    await copy('timecode.mov', '-timecode', '01:00:00:00'),
    await copy('prft.mp4', '-write_prft', 'wallclock', '-movflags', 'frag_keyframe'),
    await make('later.mp4', '-itsoffset', '3', '-i', source, '-c', 'copy'),
    await make('bframes.mp4', ...clip, '-c:v', 'libx264', '-bf', '3'),
    await make('prores.mov', ...clip, '-c:v', 'prores_ks'),
    await make('gray.mov', ...clip, '-c:v', 'mjpeg', '-pix_fmt', 'gray'),
    await make('hevc.mp4', ...clip, '-c:v', 'libx265', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'),
    await make('mpeg4.mp4', ...clip, '-c:v', 'mpeg4'),
  );
  for (const codec of ['pcm_s16le', 'pcm_s24be', 'alac', 'adpcm_ima_qt']) {
    made.push(await make(`${codec}.mov`, '-i', source, '-c:v', 'copy', '-c:a', codec));
  }
  return made;
}

const text = (type: string, content: string) => box(type, Buffer.from(content));

/** What cameras add in their published forms: user data, uuid boxes, handlers, and boxes behind the end. */
export function withCameraBoxes(plain: Buffer): Record<string, Buffer> {
  const inMovie = (...more: Buffer[]) => changeAt(plain, ['moov'], (moov) => Buffer.concat([moov, ...more]));
  const inTrack = (...more: Buffer[]) => changeAt(plain, ['moov', 'trak'], (track) => Buffer.concat([track, ...more]));
  const handler = box('hdlr', words(0, 0), Buffer.from('mdta'), words(0, 0, 0));
  const keys = box('keys', words(0, 1), text('mdta', 'com.apple.quicktime.make'));
  const values = box('ilst', box('\0\0\0\x01', box('data', words(1, 0), Buffer.from('Apple'))));
  const jpeg = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(20_000, 7)]);
  return {
    action: inMovie(
      box('udta', text('FIRM', 'HD9'), text('LENS', 'x'), box('GPMF', Buffer.alloc(400, 1)), box('free')),
    ),
    phone: inMovie(box('meta', handler, keys, values)),
    'phone with location': inMovie(box('udta', box('\xa9xyz', words(0x00080000), Buffer.from('+48+011/')), words(0))),
    'mirrorless, thumbnail': inMovie(box('udta', box('CNTH', box('CNDA', jpeg)), text('CNFV', '1.0'))),
    'camcorder, profile': Buffer.concat([
      box('ftyp', Buffer.from('XAVC'), words(0), Buffer.from('XAVCmp42')),
      box('uuid', Buffer.from('50524f4621d24fcebb88695cfac9c740', 'hex'), Buffer.alloc(64)),
      replaceBox(plain, 'ftyp', () => Buffer.of()),
      box('meta', words(0), box('hdlr', words(0, 0), Buffer.from('nrtm'), words(0, 0, 0)), text('xml ', '<a/>')),
    ]),
    drone: inTrack(box('udta', text('name', 'DJI.Meta')), box('uuid', Buffer.alloc(200))),
    'aperture modes': inTrack(box('tapt', box('clef', words(0, 64 << 16, 48 << 16)))),
    spherical: inTrack(box('uuid', Buffer.from('ffcc8263f8554a938814587a02521fdd', 'hex'), Buffer.from('<rdf/>'))),
    tablet: Buffer.concat([plain, box('sefd', Buffer.alloc(64)), box('free', Buffer.alloc(10))]),
    'reserved space': Buffer.concat([plain, Buffer.alloc(4096)]),
  };
}
