import type { Socket } from 'node:net';
import { answerChallenge } from '@vision/shared/net/digest-auth';
import { credentialsOf } from '@vision/shared/net/stream-url';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import { LIVE_PROBING } from './live-input.ts';
import type { LiveInput, OpenOptions } from './live-input.ts';
import { reasonOfStatus } from './pinned-http.ts';
import { createRtspReader, formatMessage, headerOf, headersOf, statusOf } from './rtsp-message.ts';
import type { RtspMessage } from './rtsp-message.ts';
import type { SourceReason } from '../domain/source-error.ts';
import { connectTo, listenOnLoopback } from './tcp-relay.ts';

// Other response headers choose transports and protocols of other vendors in ffmpeg; nothing here needs them.
const PASSED = new Set([
  'cseq',
  'session',
  'content-type',
  'content-length',
  'transport',
  'rtp-info',
  'range',
  'public',
]);

/**
 * Opens an rtsp stream: ffmpeg speaks RTSP over TCP with a relay on loopback, as if the camera were
 * `rtsp://127.0.0.1/s`. The relay puts the true address and the credentials into the requests it passes on, answers
 * challenges, and ends the connection when the server wants to send ffmpeg elsewhere.
 */
export async function openRtsp(options: OpenOptions): Promise<LiveInput> {
  const failed = { reason: undefined as SourceReason | undefined };
  const upstream = await connectTo({ ...options, port: options.url.port });
  let opened = false;
  const relay = await listenOnLoopback(1, (downstream) => {
    opened = true;
    const { url, openTimeoutMs } = options;
    join({ upstream, downstream, url, openTimeoutMs, port: relay.port, fail: (reason) => (failed.reason ??= reason) });
  });
  upstream.on('error', () => (failed.reason ??= 'connection_failed'));
  upstream.once('close', () => opened || relay.close());
  return {
    args: [
      LIVE_PROBING,
      ['-rtsp_transport', 'tcp'],
      ['-allowed_media_types', 'video'],
      ['-protocol_whitelist', 'rtsp,tcp'],
      ['-format_whitelist', 'rtsp'],
      ['-i', `rtsp://127.0.0.1:${relay.port}/s`],
    ].flat(),
    needsNetwork: true,
    feed: (stdin) => stdin.end(),
    failure: () => failed.reason,
    isFinished: () => false,
    close: () => {
      relay.close();
      upstream.destroy();
    },
  };
}

interface Joined {
  upstream: Socket;
  downstream: Socket;
  url: StreamUrl;
  openTimeoutMs: number;
  port: number;
  fail: (reason: SourceReason) => void;
}

interface Sent {
  request: RtspMessage;
  method: string;
  uri: string;
  isRetried: boolean;
}

function join({ upstream, downstream, url, openTimeoutMs, port, fail }: Joined): void {
  const local = `rtsp://127.0.0.1:${port}/s`;
  let base = `rtsp://${url.authority}${url.pathAndQuery}`;
  const credentials = credentialsOf(url);
  let challenges: string[] = [];
  const waiting = new Map<string, Sent>();
  let isPlaying = false;
  // Until the stream plays each answer has its time; later some cameras leave what keeps a session alive without one.
  const answer = setTimeout(() => end('timeout'), openTimeoutMs);
  upstream.once('close', () => clearTimeout(answer));
  const end = (reason: SourceReason) => {
    fail(reason);
    upstream.destroy();
    downstream.destroy();
  };

  const send = (sent: Sent) => {
    const headers = sent.request.headers.filter(([name]) => name.toLowerCase() !== 'authorization');
    const proof = credentials && challenges.length > 0 ? answerChallenge(challenges, credentials, sent) : undefined;
    if (proof !== undefined) headers.push(['Authorization', proof]);
    const [, , version = 'RTSP/1.0'] = sent.request.startLine.split(' ');
    upstream.write(formatMessage(`${sent.method} ${sent.uri} ${version}`, headers, sent.request.body));
  };

  const onRequest = (request: RtspMessage) => {
    const [method = '', asked = ''] = request.startLine.split(' ');
    const uri = asked.startsWith(local) ? base + asked.slice(local.length) : asked;
    const sent = { request, method, uri, isRetried: false };
    waiting.set(headerOf(request, 'cseq') ?? '', sent);
    send(sent);
  };

  const onResponse = (response: RtspMessage) => {
    const status = statusOf(response);
    // A request of the server. REDIRECT is the one that would lead elsewhere; none is needed for watching.
    if (status === undefined) {
      if (response.startLine.startsWith('REDIRECT')) end('redirect_refused');
      return;
    }
    const id = headerOf(response, 'cseq') ?? '';
    const sent = waiting.get(id);
    isPlaying ||= sent?.method === 'PLAY';
    if (isPlaying) clearTimeout(answer);
    else answer.refresh();
    if (status === 401 && sent && !sent.isRetried && credentials) {
      challenges = headersOf(response, 'www-authenticate');
      sent.isRetried = true;
      send(sent);
      return;
    }
    waiting.delete(id);
    const reason = reasonOfStatus(status);
    // Some servers do not know OPTIONS or the way ffmpeg keeps a session alive; that is no fault of the stream.
    const isNeeded = ['DESCRIBE', 'SETUP', 'PLAY'].includes(sent?.method ?? '');
    if (reason !== undefined && (isNeeded || reason === 'redirect_refused')) {
      end(reason);
      return;
    }
    if (sent?.method === 'DESCRIBE') base = (headerOf(response, 'content-base') ?? base).replace(/\/$/, '');
    const headers = response.headers.filter(([name]) => PASSED.has(name.toLowerCase()));
    downstream.write(formatMessage(response.startLine, headers, response.body));
  };

  connectParts(downstream, upstream, onRequest, end);
  connectParts(upstream, downstream, onResponse, end);
}

/**
 * Reads parts from one side: packets go straight to the other side, messages to `onMessage`; a full side
 * holds the other.
 */
function connectParts(
  from: Socket,
  to: Socket,
  onMessage: (message: RtspMessage) => unknown,
  end: (reason: SourceReason) => void,
): void {
  const read = createRtspReader();
  from.on('data', (chunk: Buffer) => {
    try {
      for (const part of read(chunk)) {
        if (part.kind === 'packet') to.write(part.bytes);
        else onMessage(part);
      }
    } catch {
      end('unreadable');
      return;
    }
    if (to.writableNeedDrain) {
      from.pause();
      to.once('drain', () => from.resume());
    }
  });
  from.once('close', () => to.destroy());
}
