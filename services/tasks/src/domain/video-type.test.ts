import { expect, test } from '@jest/globals';
import { isVideo } from './video-type.ts';

const ftyp = (major: string, ...compatible: string[]) => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(16 + compatible.length * 4);
  return Buffer.concat([size, Buffer.from(`ftyp${major}\0\0\0\0${compatible.join('')}`, 'latin1')]);
};
const atom = (type: string, size = 64) => {
  const head = Buffer.alloc(64);
  head.writeUInt32BE(size);
  head.write(type, 4, 'latin1');
  return head;
};

test.each([
  ['an MP4', ftyp('isom', 'isom', 'iso2', 'avc1', 'mp41')],
  ['a MOV', ftyp('qt  ', 'qt  ')],
  ['a camera file with an own major brand', ftyp('CAEP', 'mp42', 'CAEP')],
  ['an old QuickTime file', atom('moov')],
  ['an old QuickTime file that begins with its media', atom('mdat', 1)],
  ['an old QuickTime file with room to grow', atom('wide', 8)],
])('%s is a video', (_name, head) => {
  expect(isVideo(head, true)).toBe(true);
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a short beginning', ftyp('isom').subarray(0, 11)],
  ['HEIC', ftyp('heic', 'mif1', 'heic', 'mp42')],
  ['HEIF with a generic brand', ftyp('mif1', 'mif1', 'heic')],
  ['AVIF', ftyp('avif', 'avif', 'mif1', 'miaf')],
  ['M4A audio', ftyp('M4A ', 'M4A ', 'mp42', 'isom')],
  ['an unknown brand', ftyp('abcd', 'efgh')],
  ['text', Buffer.from('this is a text and not a video')],
  ['an HLS playlist', Buffer.from('#EXTM3U\nfile:///etc/passwd\n')],
  ['a PNG', Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1')],
  ['an ftyp of a wrong size', atom('ftyp', 7)],
  ['a first atom of an impossible size', atom('moov', 5)],
  ['another atom', atom('pnot')],
])('%s is none', (_name, head) => {
  expect(isVideo(head, true)).toBe(false);
});

test('waits for more bytes only while they can change the answer', () => {
  const head = ftyp('CAEP', 'mp42');
  expect(isVideo(head.subarray(0, 8), false)).toBeUndefined();
  expect(isVideo(head.subarray(0, 16), false)).toBeUndefined();
  expect(isVideo(head.subarray(0, 16), true)).toBe(false);
  expect(isVideo(ftyp('isom').subarray(0, 12), false)).toBe(true);
});
