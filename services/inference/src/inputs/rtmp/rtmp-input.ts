import { addAbortListener } from 'node:events';
import { credentialsOf } from '@vision/streams/stream-url';
import type { LiveInput, OpenOptions } from '../live-input.ts';
import { matroskaInput } from '../video/matroska-input.ts';
import { createRtmpConnection } from './rtmp-connection.ts';
import { answerRefusal } from './rtmp-credentials.ts';
import { RtmpRefusal, packedVideo, playStream } from './rtmp-session.ts';

// Authentication takes three: the refusals of the first two name the scheme and the salt.
const MAX_TRIES = 3;

/** Opens an rtmp stream: the protocol is handled here, and ffmpeg receives only the frames. @throws SourceError */
export async function openRtmp(options: OpenOptions): Promise<LiveInput> {
  const credentials = credentialsOf(options.url);
  const { app, stream } = divideAddress(options.url.pathAndQuery);
  let proof = '';
  for (let tries = 1; ; tries += 1) {
    try {
      return await openOnce(options, { authority: options.url.authority, app: `${app}${proof}`, stream });
    } catch (error) {
      const next =
        error instanceof RtmpRefusal && credentials ? answerRefusal(error.description, credentials) : undefined;
      if (next === undefined || tries === MAX_TRIES) throw error;
      proof = next;
    }
  }
}

async function openOnce(options: OpenOptions, place: Parameters<typeof playStream>[1]): Promise<LiveInput> {
  const socket = await options.connect(options.url, options.signal);
  const close = () => socket.destroy();
  const givenUp = addAbortListener(options.signal, close);
  try {
    const connection = createRtmpConnection(socket, options.budget);
    await playStream(connection, place, { answerTimeoutMs: options.openTimeoutMs, giveUp: close });
    return matroskaInput(packedVideo(connection, options.budget), close);
  } catch (error) {
    close();
    throw error;
  } finally {
    givenUp[Symbol.dispose]();
  }
}

/**
 * Splits a path into application and stream as players do: the application is the first two of three or more segments,
 * or the first of two; the query belongs to the stream. A colon in the second segment starts the stream (`mp4:…`).
 */
export function divideAddress(pathAndQuery: string): { app: string; stream: string } {
  const [path = '', ...query] = pathAndQuery.slice(1).split('?');
  const rest = query.length === 0 ? '' : `?${query.join('?')}`;
  const segments = path.split('/');
  if (segments.length === 1) return { app: `${path}${rest}`, stream: '' };
  const appSegments = segments.length > 2 && !segments[1]?.includes(':') ? 2 : 1;
  const name = segments.slice(appSegments).join('/');
  return { app: segments.slice(0, appSegments).join('/'), stream: `${playName(name)}${rest}` };
}

/** Servers of recordings expect the file type before the name. */
function playName(name: string): string {
  if (!name.includes(':') && /\.(f4v|mp4)$/.test(name)) return `mp4:${name}`;
  return name.replace(/\.flv$/, '');
}
