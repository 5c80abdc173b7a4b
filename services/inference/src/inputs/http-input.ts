import { pipeline } from 'node:stream';
import type { Writable } from 'node:stream';
import { credentialsOf } from '@vision/streams/stream-url';
import { sniffContainer } from '@vision/streams/container-format';
import type { HttpOptions, LiveInput } from './live-input.ts';
import { getOnce } from './http-get.ts';
import { readHead } from './read-head.ts';
import { SourceError, sourceReasonOf } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';

/**
 * Opens an http or https stream: fetched here, given to ffmpeg through its standard input, so ffmpeg needs no network.
 * A body of known length is a recording: it is read at its own pace and has an end.
 */
export async function openHttp(options: HttpOptions): Promise<LiveInput> {
  const response = await getOnce(options.url, { ...options, credentials: credentialsOf(options.url) });
  const { body } = response;
  const failed = { reason: undefined as SourceReason | undefined, isFinished: false };
  body.on('error', (error) => (failed.reason = sourceReasonOf(error)));
  const { head, whole } = await readHead(body, options.openTimeoutMs).catch((error: unknown) => {
    body.destroy();
    throw error;
  });
  const format = sniffContainer(head, response.contentType);
  if (format === 'hls') {
    // What reads playlists is loaded for them alone: most sources have none.
    const { openPlaylist } = await import('./hls-input.ts');
    return openPlaylist(options, whole);
  }
  if (format === undefined) {
    body.destroy();
    throw new SourceError('unreadable');
  }
  const isRecording = response.contentLength !== undefined;
  return {
    format: { container: format, delivery: isRecording ? 'recording' : 'body' },
    feed: (video: Writable) => {
      pipeline(whole, video, (error) => {
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
