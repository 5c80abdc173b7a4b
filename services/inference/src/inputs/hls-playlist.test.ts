import { expect, test } from '@jest/globals';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { parseStreamUrl } from '@vision/streams/stream-url';
import { pauseBeforeReload, readPlaylist } from './hls-playlist.ts';

const policy = createAddressPolicy();
const BASE = 'http://camera.example.org/live/list.m3u8?token=1';

/** The address of the one piece of a playlist that names it so. */
function pieceNamed(uri: string): string | undefined {
  const playlist = readPlaylist(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${uri}\n`, BASE);
  return playlist.kind === 'segments' ? playlist.segments[0]?.uri : undefined;
}

test.each([
  ['a.ts', 'http://camera.example.org/live/a.ts'],
  ['../a%20b.ts', 'http://camera.example.org/a%20b.ts'],
  ['//cdn.example.org:8080/a.ts', 'http://cdn.example.org:8080/a.ts'],
  ['a.ts?x={1}|^2`', 'http://camera.example.org/live/a.ts?x=%7B1%7D%7C%5E2%60'],
  ['100%.ts', 'http://camera.example.org/live/100%25.ts'],
  ['a.ts#part', 'http://camera.example.org/live/a.ts'],
])('the piece %s is asked for at %s, which the grammar of addresses takes', (named, address) => {
  expect(pieceNamed(named)).toBe(address);
  expect(parseStreamUrl(address, policy).href).toBe(address);
});

test.each(['file:///etc/passwd', 'rtsp://camera.example.org/a', 'data:video/mp2t,x'])('%s is no piece', (named) => {
  expect(() => pieceNamed(named)).toThrow('address_forbidden');
});

test.each([
  ['4294967296', '00000000000000000000000100000000'],
  ['9007199254740991', '0000000000000000001fffffffffffff'],
])('the number %s of a piece is its initialisation vector in 128 bits', (number, vector) => {
  const key = '#EXT-X-KEY:METHOD=AES-128,URI="k"';
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:2', `#EXT-X-MEDIA-SEQUENCE:${number}`, key, '#EXTINF:2,', 'a.ts'];
  const playlist = readPlaylist(`${lines.join('\n')}\n`, BASE);
  expect(playlist.kind === 'segments' && playlist.segments[0]?.key?.iv.toString('hex')).toBe(vector);
});

test.each(['18446744073709551616', '1e400', '-1'])(
  'numbers that cannot be counted on from (%s) are no playlist',
  (number) => {
    const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:2', `#EXT-X-MEDIA-SEQUENCE:${number}`, '#EXTINF:2,', 'a.ts'];
    expect(() => readPlaylist(`${lines.join('\n')}\n`, BASE)).toThrow('unreadable');
  },
);

test.each(['', '#EXTM3U\n', '#EXTM3U\n#EXTINF:2,\na.ts\n'])(
  'a text that does not say how long pieces are is no playlist: the time of the next request would be unknown',
  (text) => {
    expect(() => readPlaylist(text, BASE)).toThrow('unreadable');
  },
);

const repeated = (count: number, line: string) =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:2\n${line.repeat(count)}#EXTINF:2,\na.ts\n`;

test('a playlist of more lines than a day of pieces has is not read', () => {
  expect(() => readPlaylist(repeated(20_000, '#EXT-X-START:TIME-OFFSET=1\n'), BASE)).toThrow('unreadable');
  expect(readPlaylist(repeated(9_000, '#EXTINF:2,\nb.ts\n'), BASE)).toMatchObject({ kind: 'segments' });
});

test('a playlist of more variants than any service offers is not read, nor is a line longer than any address', () => {
  const variants = (count: number) => `#EXTM3U\n${'#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n'.repeat(count)}`;
  expect(readPlaylist(variants(100), BASE)).toMatchObject({ kind: 'variants' });
  expect(() => readPlaylist(variants(101), BASE)).toThrow('unreadable');
  expect(pieceNamed(`a.ts?signature=${'x'.repeat(8_000)}`)).toHaveLength(8_000 + BASE.lastIndexOf('/') + 16);
  expect(() => pieceNamed(`a.ts?signature=${'x'.repeat(17_000)}`)).toThrow('unreadable');
});

const HEAD = '#EXTM3U\n#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:2\n';
const PIECE = '#EXTINF:2,\na.ts\n';

test.each([
  ['a duration', '#EXTINF:2,\n'],
  ['a key', '#EXT-X-KEY:METHOD=AES-128,URI="k"\n'],
  ['a key and a duration', '#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF:2,'],
])('%s behind the last address is that of a piece which is still missing', (_, rest) => {
  for (const head of [HEAD, `${HEAD}#EXT-X-MAP:URI="init.mp4"\n`]) {
    expect(readPlaylist(head + PIECE + rest, BASE)).toEqual(readPlaylist(head + PIECE, BASE));
  }
});

const key = (attributes: string) => `${HEAD}#EXT-X-KEY:METHOD=AES-128,${attributes}\n${PIECE}`;

test.each([
  ['without its first line', `#EXT-X-TARGETDURATION:2\n${PIECE}`],
  ['of variants and pieces', `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb.m3u8\n#EXT-X-TARGETDURATION:2\n${PIECE}`],
  ['with a variant without an address', '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n'],
  ['of a variant of no size', '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=M-[400x520\nb.m3u8\n'],
  ['of a variant of two sizes', '#EXTM3U\n#EXT-X-STREAM-INF:RESOLUTION=640x360,RESOLUTION=1x1\nb.m3u8\n'],
  ['with an address without a variant', '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\nb.m3u8\n'],
  ['with a piece without a duration', `${HEAD}#EXT-X-KEY:METHOD=NONE\na.ts\n`],
  ['with two first numbers', `${HEAD}#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MEDIA-SEQUENCE:9\n${PIECE}`],
  ['with its first number behind a piece', `${HEAD}${PIECE}#EXT-X-MEDIA-SEQUENCE:9\n${PIECE}`],
  ['with an end whose name goes on', `${HEAD}${PIECE}#EXT-X-ENDLIST#\n`],
  ['with a number that is not decimal', `${HEAD}#EXT-X-MEDIA-SEQUENCE:1e3\n${PIECE}`],
  ['with a carriage return inside the name of a tag', `${HEAD}#EXT-X-MED\rIA-SEQUENCE:9\n${PIECE}`],
  ['with a carriage return inside a line', `${HEAD}#EXTINF:2,\ra.ts\n${PIECE}`],
  ['with a header without an address', `${HEAD}#EXT-X-MAP:TYPE=x\n${PIECE}`],
  ['with a key without an address', key('KEYFORMAT="identity"')],
  ['with a key of an empty address', key('URI=""')],
  ['with a key of two addresses', key('URI="k1",URI="k2"')],
  ['with a quote that does not end', key('URI="k')],
  ['with an apostrophe in a key', key(`URI="'",KEYFORMAT="com.apple.streamingkeydelivery"`)],
  ['with a vector that is too short', key('URI="k",IV=0x01')],
  ['with a vector of other characters', key('URI="k",IV=0x1g0102030405060708090a0b0c0d0e0f')],
])('a playlist %s is not read: readers differ in what they fetch for it', (_, text) => {
  expect(() => readPlaylist(text, BASE)).toThrow('unreadable');
});

test('a key in the form of another system is not fetched', () => {
  expect(() => readPlaylist(key('URI="k",KEYFORMAT="com.apple.streamingkeydelivery"'), BASE)).toThrow(
    'codec_unsupported',
  );
  expect(readPlaylist(key('URI="k",KEYFORMAT="identity"'), BASE)).toMatchObject({ kind: 'segments' });
});

test.each([
  '#EXT-X-START:TIME-OFFSET=1\n',
  '#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n',
  '#EXT-X-DATERANGE:ID="a"\n',
  '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n',
  '#EXT-X-DEFINE:NAME="a",VALUE="b"\n',
  '# a remark\n',
  ' \n',
])('a line that tells nothing about pieces (%j) is left out, however often it stands there', (line) => {
  expect(readPlaylist(repeated(3, line), BASE)).toEqual(readPlaylist(repeated(0, ''), BASE));
});

test('a playlist is loaded again after the time it names, half of it when nothing was new', () => {
  expect(pauseBeforeReload({ targetMs: 2_000, isNew: true, readingMs: 1 })).toBe(2_000);
  expect(pauseBeforeReload({ targetMs: 2_000, isNew: false, readingMs: 1 })).toBe(1_000);
});

test('a playlist that takes long to read is read rarely', () => {
  expect(pauseBeforeReload({ targetMs: 1_000, isNew: false, readingMs: 300 })).toBe(6_000);
});
