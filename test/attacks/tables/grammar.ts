import type { Attack, AttackGroup } from '../attack.ts';
import { created, INVALID } from '../create-streams.ts';
import type { Inner } from '../inner.ts';

const SCHEMES = ['http', 'https', 'rtsp', 'rtmp'];

/** Whole texts, some of which name an inner listener. */
const text = (name: string, ...urlsOf: ((inner: Inner) => string)[]): Attack => ({
  name,
  expected: INVALID,
  attempt: async (target) => {
    const inner = await target.inner();
    return created(
      target,
      urlsOf.map((urlOf) => urlOf(inner)),
    );
  },
});

export const grammar: AttackGroup = {
  title: 'Addresses that parsers read differently',
  wanted: 'one host for the check and another for the connection; files; options of programs',
  withinMs: 10_000,
  atOnce: 8,
  attacks: [
    text(
      'a backslash before the host',
      ...SCHEMES.map(
        (scheme) =>
          ({ host, port }: Inner) =>
            `${scheme}://example.org\\@${host}:${port}/`,
      ),
    ),
    text('a backslash for a slash', ({ host, port }) => `http:\\\\${host}:${port}/`),
    text(
      'a user that looks like a host',
      ({ host, port }) => `http://example.org@${host}:${port}/`,
      ({ host, port }) => `rtsp://example.org:554@${host}:${port}/`,
    ),
    text(
      'two users',
      ({ host, port }) => `http://a@example.org@${host}:${port}/`,
      ({ host, port }) => `http://a@${host}:${port}@example.org/`,
    ),
    text('a fragment before the host', ({ host, port }) => `http://example.org#@${host}:${port}/`),
    text('a query before the host', ({ host, port }) => `http://${host}:${port}?@example.org:99999/`),
    text(
      'a tab in the host',
      ({ host, port }) => `http://exam\tple.org@${host}:${port}/`,
      ({ host, port }) => `http://${host.slice(0, 5)}\t${host.slice(5)}:${port}/`,
    ),
    text('a line break in the host', ({ host, port }) => `http://${host.slice(0, 5)}\n${host.slice(5)}:${port}/`),
    text('a line break in the path', ({ host, port }) => `http://example.org/\r\nHost: ${host}:${port}`),
    text(
      'an encoded line break in the path',
      ({ host, port }) => `rtsp://127.0.0.1:${port}/a%0d%0aDESCRIBE%20rtsp://${host}/`,
    ),
    text(
      'an encoded line break in the password',
      ({ host }) => `rtsp://a:%0d%0aX@${host}/`,
      () => 'rtsp://a:b%0aX@127.0.0.1/',
    ),
    text(
      'a NUL in the host',
      ({ host, port }) => `http://${host}\0.example.org:${port}/`,
      ({ host, port }) => `http://${host}%00.example.org:${port}/`,
    ),
    text(
      'spaces around it',
      ({ url }) => ` ${url('http')}`,
      ({ url }) => `${url('http')} `,
    ),
    text(
      'no slashes',
      ({ host, port }) => `rtsp:${host}:${port}/`,
      ({ host, port }) => `rtsp:/${host}:${port}/`,
    ),
    text('three slashes', ({ host, port }) => `http:///${host}:${port}/`),
    text(
      'no scheme',
      ({ host, port }) => `//${host}:${port}/`,
      ({ host, port }) => `${host}:${port}`,
    ),
    text(
      'ports that are none',
      ...[0, 65_536, 99_999_999, -1].map((port) => () => `http://127.0.0.1:${port}/`),
      () => 'http://127.0.0.1:/',
      () => 'http://127.0.0.1:8o/',
    ),
    text(
      'two ports',
      ({ port }) => `http://127.0.0.1:80:${port}/`,
      ({ host, port }) => `http://${host}:${port}:80/`,
    ),
    text(
      'a broken encoding',
      () => 'http://127.0.0.1/%zz',
      () => 'http://%ff@127.0.0.1/',
    ),
    text(
      'letters beyond ASCII',
      () => 'http://ⓔxample.org/',
      () => 'http://example.org/ü',
    ),
    text('2,049 bytes', () => `http://127.0.0.1/${'a'.repeat(2_032)}`),
    text(
      'files',
      () => 'file:///etc/passwd',
      () => '/etc/passwd',
      () => 'file://127.0.0.1/etc/passwd',
    ),
    text(
      'protocols of ffmpeg',
      ({ url }) => `concat:${url('http')}`,
      ({ url }) => `crypto+${url('http')}`,
      ({ url }) => `async:${url('http')}`,
      ({ url }) => `subfile,,start,0,end,9,,:${url('http')}`,
      ({ url }) => `tee:${url('rtmp')}`,
      ({ url }) => `hls+${url('http')}`,
    ),
    text(
      'other protocols',
      ...[
        'ftp',
        'gopher',
        'rtsps',
        'rtmps',
        'rtmpt',
        'udp',
        'rtp',
        'srt',
        'tcp',
        'sftp',
        'ldap',
        'ws',
        'unix',
        'jar:http',
      ].map(
        (scheme) =>
          ({ url }: Inner) =>
            url(scheme),
      ),
    ),
    text('data', () => 'data:video/mp4;base64,AAAA'),
    text('scripts', () => 'javascript:fetch(1)'),
    text(
      'options of programs',
      ({ url }) => `-i ${url('http')}`,
      () => '-f lavfi',
      () => '--help',
    ),
    text(
      'commands',
      ({ url }) => `${url('http')};id`.replace('http:', '$(id):'),
      () => '`id`',
      () => '|id',
    ),
    text(
      'an interface',
      () => 'rtsp://127.0.0.1%25lo/',
      () => 'rtsp://[::1%25lo]/',
    ),
  ],
};
