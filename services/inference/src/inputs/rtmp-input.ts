import { credentialsOf } from '@vision/shared/net/stream-url';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import { LIVE_PROBING } from './live-input.ts';
import type { LiveInput, OpenOptions } from './live-input.ts';
import { openRelay } from './tcp-relay.ts';

/**
 * Opens an rtmp stream: ffmpeg speaks the protocol with a relay on loopback that leads to the checked address only. The
 * stream's address reaches ffmpeg through its standard input, as a list of one entry, because paths of rtmp hold keys
 * and arguments of a process can be read by others.
 */
export async function openRtmp(options: OpenOptions): Promise<LiveInput> {
  const { url } = options;
  const relay = await openRelay({ ...options, port: url.port, limit: 3 });
  return {
    args: [
      LIVE_PROBING,
      ['-protocol_whitelist', 'pipe,rtmp,tcp'],
      ['-format_whitelist', 'concat,flv'],
      ['-f', 'concat', '-safe', '0'],
      ['-i', 'pipe:0'],
    ].flat(),
    needsNetwork: true,
    feed: (stdin) => stdin.end(concatList(url, relay.port)),
    // ffmpeg reads the server's answers, so its reason is more precise than the relay's.
    failure: () => undefined,
    isFinished: () => false,
    close: () => relay.close(),
  };
}

/** The list of one entry that ffmpeg reads: the stream by way of the relay, and the address that the server is told. */
export function concatList(url: StreamUrl, relayPort: number): string {
  const { user, password, pathAndQuery } = url;
  const isNamed = credentialsOf(url) !== undefined;
  const userinfo = isNamed ? `${encodeURIComponent(user)}:${encodeURIComponent(password)}@` : '';
  const lines = [
    'ffconcat version 1.0',
    `file ${quoted(`rtmp://${userinfo}127.0.0.1:${relayPort}${pathAndQuery}`)}`,
    'option rtmp_live live',
    'option analyzeduration 500000',
    'option probesize 1000000',
    'option fpsprobesize 0',
    `option rtmp_tcurl ${quoted(`rtmp://${url.authority}/${applicationOf(pathAndQuery)}`)}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Quotes as ffmpeg's lists want it: a quote inside ends the quoting, stands escaped, and begins it again. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * The application part of a path, divided as ffmpeg divides it: two segments when there are three or more, else one.
 */
function applicationOf(path: string): string {
  const segments = (path.split('?')[0] ?? '').slice(1).split('/');
  return segments.slice(0, segments.length > 2 ? 2 : 1).join('/');
}
