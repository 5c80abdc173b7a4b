import { LIVE_PROBING, type LiveInput, type OpenOptions } from './live-input.ts';
import { openRelay } from './tcp-relay.ts';

/**
 * Opens an rtmp stream: ffmpeg speaks the protocol with a relay on loopback that leads to the checked address only. The stream's
 * address reaches ffmpeg through its standard input, as a list of one entry, because paths of rtmp hold keys and arguments of
 * a process can be read by others.
 */
export async function openRtmp(options: OpenOptions): Promise<LiveInput> {
  const { url } = options;
  const relay = await openRelay({ ...options, port: url.port, limit: 3 });
  const user = url.credentials;
  const userinfo = user ? `${encodeURIComponent(user.user)}:${encodeURIComponent(user.password)}@` : '';
  const list = [
    'ffconcat version 1.0',
    `file 'rtmp://${userinfo}127.0.0.1:${relay.port}${url.path}'`,
    ...['option rtmp_live live', 'option analyzeduration 500000', 'option probesize 1000000', 'option fpsprobesize 0'],
    `option rtmp_tcurl 'rtmp://${url.authority}/${applicationOf(url.path)}'`,
  ];
  return {
    args: [
      ...[...LIVE_PROBING, '-protocol_whitelist', 'pipe,rtmp,tcp'],
      ...['-format_whitelist', 'concat,flv', '-f', 'concat', '-safe', '0', '-i', 'pipe:0'],
    ],
    needsNetwork: true,
    feed: (stdin) => stdin.end(`${list.join('\n')}\n`),
    // ffmpeg reads the server's answers and knows more than the relay.
    failure: () => undefined,
    isFinished: () => false,
    close: () => relay.close(),
  };
}

/** The application part of a path, divided as ffmpeg divides it: two segments when there are three or more, else one. */
function applicationOf(path: string): string {
  const segments = (path.split('?')[0] ?? '').slice(1).split('/');
  return segments.slice(0, segments.length > 2 ? 2 : 1).join('/');
}
