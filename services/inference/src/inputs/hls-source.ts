import { createDecipheriv } from 'node:crypto';
import type { Decipheriv } from 'node:crypto';
import type { Readable } from 'node:stream';
import { BodyTooLargeError, readBody } from '@vision/shared/http/read-body';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { credentialsOf, parseStreamUrl } from '@vision/streams/stream-url';
import type { StreamUrl } from '@vision/streams/stream-url';
import { SourceError, sourceReasonOf } from '@vision/streams/source-error';
import type { HlsSegment } from './hls-playlist.ts';
import { getOnce } from './http-get.ts';
import type { HttpAnswer } from './http-get.ts';
import type { HttpOptions } from './live-input.ts';
import { withinTime } from '@vision/streams/within-time';

export const MAX_PLAYLIST_BYTES = 1 << 20;
const MAX_PIECE_BYTES = 16 << 20;
const KEY_BYTES = 16;
export const PIECE_TIMEOUT_MS = 60_000;

const EVERYWHERE = createAddressPolicy(['0.0.0.0/0', '::/0']);

/** Fetches playlists, segments and keys, each over its own connection, which the service makes or refuses. */
export interface HlsSource {
  /** @throws SourceError */
  playlist: (uri: string) => Promise<string>;
  /** A segment, or the header of segments, while it arrives. @throws SourceError */
  piece: (segment: Pick<HlsSegment, 'uri' | 'key'>) => AsyncGenerator<Buffer, void>;
}

/** Sends credentials only to the host of the stream address. */
export function createHlsSource(options: HttpOptions): HlsSource {
  const { url: origin } = options;
  const get = (uri: string, signal: AbortSignal): Promise<HttpAnswer> => {
    const url = readAddress(uri);
    const isOrigin = url.authority === origin.authority && url.scheme === origin.scheme;
    return getOnce(url, { ...options, credentials: isOrigin ? credentialsOf(origin) : undefined, signal });
  };
  const whole = async (uri: string, maxBytes: number) => {
    const { body } = await get(uri, AbortSignal.any([options.signal, AbortSignal.timeout(PIECE_TIMEOUT_MS)]));
    return readAll(body, maxBytes);
  };
  const keyOf = createKeyring((uri) => whole(uri, KEY_BYTES));
  return {
    playlist: async (uri) => (await whole(uri, MAX_PLAYLIST_BYTES)).toString('utf8'),
    piece: async function* ({ uri, key }) {
      const decipher = key && createDecipher(await keyOf(key.uri), key.iv);
      const bytes = pieceOf(await get(uri, options.signal));
      yield* decipher ? decrypted(bytes, decipher) : bytes;
    },
  };
}

export async function readAll(body: Readable, maxBytes: number): Promise<Buffer> {
  try {
    return await readBody(body, maxBytes);
  } catch (error) {
    body.on('error', () => undefined).destroy();
    throw new SourceError(error instanceof BodyTooLargeError ? 'unreadable' : sourceReasonOf(error));
  }
}

/** A segment as it arrives. Only the time that the server takes counts, not the time without a reader. */
async function* pieceOf({ body, contentLength = 0 }: HttpAnswer): AsyncGenerator<Buffer, void> {
  const chunks = body.iterator() as AsyncGenerator<Buffer, void>;
  let leftMs = PIECE_TIMEOUT_MS;
  let size = 0;
  try {
    for (;;) {
      const askedAt = performance.now();
      const { value: chunk } = await withinTime(chunks.next(), leftMs, () => body.destroy());
      leftMs -= performance.now() - askedAt;
      if (!chunk) return;
      size += chunk.length;
      if (Math.max(size, contentLength) > MAX_PIECE_BYTES) throw new SourceError('unreadable');
      yield chunk;
    }
  } finally {
    body.destroy();
  }
}

function createDecipher(secret: Buffer, iv: Buffer): Decipheriv {
  if (secret.length !== KEY_BYTES) throw new SourceError('unreadable');
  return createDecipheriv('aes-128-cbc', secret, iv);
}

async function* decrypted(bytes: AsyncIterable<Buffer>, decipher: Decipheriv): AsyncGenerator<Buffer, void> {
  for await (const chunk of bytes) yield decipher.update(chunk);
  yield lastOf(decipher);
}

function lastOf(decipher: Decipheriv): Buffer {
  try {
    return decipher.final();
  } catch {
    throw new SourceError('unreadable');
  }
}

/** Fetches keys by their address; many segments share a key, so the last one is cached. */
function createKeyring(fetchKey: (uri: string) => Promise<Buffer>): (uri: string) => Promise<Buffer> {
  let last: { uri: string; secret: Buffer } | undefined;
  return async (uri) => {
    if (last?.uri !== uri) last = { uri, secret: await fetchKey(uri) };
    return last.secret;
  };
}

/** Checks only the grammar of an address: the service decides which addresses may be reached. */
function readAddress(uri: string): StreamUrl {
  try {
    return parseStreamUrl(uri, EVERYWHERE);
  } catch {
    throw new SourceError('address_forbidden');
  }
}
