import { Readable, pipeline } from 'node:stream';
import type { Writable } from 'node:stream';
import { credentialsOf } from '@vision/shared/net/stream-url';
import { SNIFF_BYTES, sniffContainer } from './container-format.ts';
import type { ContainerFormat } from './container-format.ts';
import { openPlaylist } from './hls-input.ts';
import { LIVE_PROBING } from './live-input.ts';
import type { HttpOptions, LiveInput } from './live-input.ts';
import { getPinned } from './pinned-http.ts';
import { withinTime } from './within-time.ts';
import { SourceError } from '../domain/source-error.ts';
import type { SourceReason } from '../domain/source-error.ts';

/** Formats that carry no times: ffmpeg would count 25 pictures a second whatever the camera sends. */
const TIMELESS: ReadonlySet<ContainerFormat> = new Set(['mjpeg', 'mpjpeg', 'h264']);

/**
 * Opens an http or https stream: fetched here, given to ffmpeg through its standard input, so ffmpeg needs no network.
 * A body of known length is a recording: it is read at its own pace and has an end.
 */
export async function openHttp(options: HttpOptions): Promise<LiveInput> {
  const response = await getPinned(options.url, { ...options, credentials: credentialsOf(options.url) });
  const body: Readable = response.body;
  const failed = { reason: undefined as SourceReason | undefined, isFinished: false };
  body.on('error', () => (failed.reason = 'connection_failed'));
  const { head, whole } = await readHead(body, options.openTimeoutMs).catch((error: unknown) => {
    body.destroy();
    throw error;
  });
  const format = sniffContainer(head, response.contentType);
  if (format === 'hls') return openPlaylist(options, whole);
  if (format === undefined) {
    body.destroy();
    throw new SourceError('unreadable');
  }
  const isRecording = response.contentLength !== undefined;
  const isTimeless = !isRecording && TIMELESS.has(format);
  return {
    args: [
      LIVE_PROBING,
      isRecording ? ['-re'] : [],
      isTimeless ? ['-use_wallclock_as_timestamps', '1'] : [],
      ['-protocol_whitelist', 'pipe'],
      ['-format_whitelist', format],
      ['-f', format, '-i', 'pipe:0'],
    ].flat(),
    feed: (stdin: Writable) => {
      pipeline(whole, stdin, (error) => {
        if (!error) failed.isFinished = isRecording;
      });
    },
    failure: () => failed.reason,
    isFinished: () => failed.isFinished,
    close: () => {
      whole.destroy();
      body.destroy();
    },
  };
}

/** The first bytes, and a stream of all bytes. */
async function readHead(body: Readable, timeoutMs: number): Promise<{ head: Buffer; whole: Readable }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const read = async () => {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= SNIFF_BYTES) break;
    }
    return Buffer.concat(chunks);
  };
  const head = await withinTime(read(), timeoutMs, () => body.destroy());
  async function* whole(): AsyncGenerator<Buffer, void> {
    yield head;
    if (!body.readableEnded) yield* body as AsyncIterable<Buffer>;
  }
  return { head, whole: Readable.from(whole(), { objectMode: false }) };
}
