import type { Elsewhere } from './live-servers.ts';

/** What a server answers to the first request; latin-1 text as it goes out. */
type Answer = (at: Elsewhere) => string;

const found = (at: Elsewhere, end = '\r\n') => `HTTP/1.1 302 Found${end}Location: ${at.url}${end}${end}`;
const body = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

export const REDIRECTS = [301, 302, 303, 304, 305, 307, 308, 399];
export const redirect = (at: Elsewhere, status: number) => `HTTP/1.1 ${status} Moved\r\nLocation: ${at.url}\r\n\r\n`;

/** Answers that lead elsewhere, and the reason that ends the attempt. */
export const leadingAnswers: [string, string, Answer][] = [
  ['a second answer behind a bare LF', 'connection_failed', (at) => `HTTP/1.1 200 OK\r\nX: 1\n\n${found(at)}`],
  ['a second answer behind a bare CR', 'connection_failed', (at) => `HTTP/1.1 200 OK\r\nX: 1\r\r${found(at)}`],
  ['lines that end with LF', 'connection_failed', (at) => found(at, '\n')],
  ['a tab before the status', 'connection_failed', (at) => found(at).replace(' ', '\t')],
  ['a hexadecimal length', 'connection_failed', (at) => `HTTP/1.1 200 OK\r\nContent-Length: 0x5a\r\n\r\n${found(at)}`],
  [
    'two lengths',
    'connection_failed',
    (at) => `HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 0\r\n\r\n${found(at)}`,
  ],
  [
    'a length beside chunks',
    'connection_failed',
    () => `HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a folded line', 'connection_failed', () => 'HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n'],
  ['a control character', 'connection_failed', () => 'HTTP/1.1 200 OK\r\nX: \x07\r\n\r\n'],
  ['headers without end', 'connection_failed', () => `HTTP/1.1 200 OK\r\n${'X: 1\r\n'.repeat(20_000)}`],
  [
    'another protocol from here on',
    'connection_failed',
    (at) => `HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${found(at)}`,
  ],
  [
    'a page that refreshes',
    'unreadable',
    (at) => body(`<meta http-equiv="refresh" content="0;url=${at.url}">${' '.repeat(999)}`),
  ],
  ['a list of files', 'unreadable', (at) => body(`ffconcat version 1.0\nfile '${at.url}'\n${'#'.repeat(999)}`)],
  [
    'a session description',
    'unreadable',
    (at) => body(`v=0\r\nc=IN IP4 ${at.host}\r\nm=video ${at.port} RTP/AVP 96\r\n${'a=x\r\n'.repeat(300)}`),
  ],
];

const list = (...lines: string[]) => body(['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines, ''].join('\n'));
const variant = (uri: string) => body(`#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${uri}\n`);
const piece = (uri: string) => list('#EXTINF:2,', uri, '#EXT-X-ENDLIST');

/** Playlists that lead elsewhere, and the reason that ends the attempt. */
export const playlists: [string, string, Answer][] = [
  ['pieces of another host', 'address_forbidden', (at) => piece(at.url)],
  ['pieces of another host by its short form', 'address_forbidden', (at) => piece(`//${at.host}:${at.port}/a.ts`)],
  ['pieces of a host that is a number', 'address_forbidden', (at) => piece(`http://2130706434:${at.port}/a.ts`)],
  ['pieces of a host in octal digits', 'address_forbidden', (at) => piece(`http://0177.0.0.2:${at.port}/a.ts`)],
  ['pieces of a host that is mapped', 'address_forbidden', (at) => piece(`http://[::ffff:${at.host}]:${at.port}/a.ts`)],
  [
    'pieces of a host behind a user',
    'address_forbidden',
    (at) => piece(`http://127.0.0.1:80@${at.host}:${at.port}/a.ts`),
  ],
  ['pieces of a port that no stream comes from', 'address_forbidden', () => piece('http://8.8.8.8:6379/a.ts')],
  ['pieces of other schemes', 'address_forbidden', (at) => piece(`rtmp://${at.host}:${at.port}/a`)],
  ['pieces of this machine', 'address_forbidden', () => piece('file:///etc/passwd')],
  [
    'a key of another host',
    'address_forbidden',
    (at) => list(`#EXT-X-KEY:METHOD=AES-128,URI="${at.url}"`, '#EXTINF:2,', 'a.ts'),
  ],
  ['a header of another host', 'address_forbidden', (at) => list(`#EXT-X-MAP:URI="${at.url}"`, '#EXTINF:2,', 'a.ts')],
  ['a playlist of another host', 'address_forbidden', (at) => variant(at.url)],
  ['a playlist that names itself', 'unreadable', () => variant('/x')],
];

/** A playlist of one piece, which redirects. */
export const redirectingPiece = (at: Elsewhere, path: string) => (path === '/x' ? piece('a.ts') : found(at));
