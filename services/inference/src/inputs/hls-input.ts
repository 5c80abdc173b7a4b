import { createDecipheriv } from 'node:crypto';
import { Readable, pipeline } from 'node:stream';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { BodyTooLargeError, readBody } from '@vision/shared/http/read-body';
import { credentialsOf } from '@vision/shared/net/stream-url';
import { SNIFF_BYTES, sniffContainer } from './container-format.ts';
import { pauseBeforeReload, readPlaylist } from './hls-playlist.ts';
import type { HlsPlaylist, HlsSegment } from './hls-playlist.ts';
import type { HttpOptions, LiveInput } from './live-input.ts';
import { createPace } from './pace.ts';
import { getPinned } from './pinned-http.ts';
import { SourceError, sourceReasonOf } from '../domain/source-error.ts';
import type { SourceReason } from '../domain/source-error.ts';
import { withinTime } from './within-time.ts';

const MAX_PLAYLIST_BYTES = 1 << 20;
const MAX_SEGMENT_BYTES = 64 << 20;
const SEGMENT_TIMEOUT_MS = 60_000;
// Live streams are joined this many pieces before their end, as players do.
const JOIN_BEFORE_END = 3;
const RELOAD_TRIES = 3;
// A playlist may be made of thousands of pieces that hold nothing: a dozen requests at once, then four a second.
const REQUEST_MS = 250;
const REQUESTS_AHEAD_MS = 12 * REQUEST_MS;
// A reader that fell behind may catch up at twice the pace of the stream.
const CATCHING_UP = 2;

type MediaPlaylist = Extract<HlsPlaylist, { kind: 'segments' }>;

/**
 * Opens an HLS stream whose playlist has begun to arrive. Playlists, keys and pieces are fetched here, each from an
 * address that passed the rules; ffmpeg gets the pieces one after the other and never sees a playlist.
 */
export async function openPlaylist(options: HttpOptions, body: Readable): Promise<LiveInput> {
  const { scheme, authority, pathAndQuery } = options.url;
  const source = createFetcher(options);
  let uri = `${scheme}://${authority}${pathAndQuery}`;
  const text = await withinTime(readAll(body, MAX_PLAYLIST_BYTES), options.openTimeoutMs, () => body.destroy());
  let playlist = readPlaylist(text.toString('utf8'), uri);
  if (playlist.kind === 'variants') {
    uri = playlist.uri;
    playlist = readPlaylist((await source(uri, MAX_PLAYLIST_BYTES)).toString('utf8'), uri);
  }
  // A playlist of playlists may name playlists of pieces, and no further level.
  if (playlist.kind === 'variants') throw new SourceError('unreadable');
  const failed = { reason: undefined as SourceReason | undefined, isFinished: false };
  const pieces = Readable.from(readPieces({ source, uri, first: playlist, signal: options.signal, state: failed }));
  pieces.on('error', () => undefined);
  const [head] = (await withinTime(once(pieces), SEGMENT_TIMEOUT_MS, () => pieces.destroy())) ?? [];
  const format = head && sniffContainer(head.subarray(0, SNIFF_BYTES));
  if (head === undefined || (format !== 'mpegts' && format !== 'mov')) {
    pieces.destroy();
    throw new SourceError(failed.reason ?? 'unreadable');
  }
  pieces.unshift(head);
  return {
    args: ['-re', '-protocol_whitelist', 'pipe', '-format_whitelist', format, '-f', format, '-i', 'pipe:0'],
    feed: (stdin: Writable) => pipeline(pieces, stdin, () => undefined),
    failure: () => failed.reason,
    isFinished: () => failed.isFinished,
    close: () => pieces.destroy(),
  };
}

interface Reading {
  source: Fetch;
  uri: string;
  first: MediaPlaylist;
  signal: AbortSignal;
  state: { reason: SourceReason | undefined; isFinished: boolean };
}

type Fetch = (uri: string, maxBytes: number) => Promise<Buffer>;

/** The pieces in order, until the playlist is complete or the source fails. */
async function* readPieces({ source, uri, first, signal, state }: Reading): AsyncGenerator<Buffer, void> {
  let playlist = first;
  let readingMs = 0;
  let loadedAt = performance.now();
  let next = playlist.isComplete ? 0 : (playlist.segments.at(-JOIN_BEFORE_END)?.number ?? 0);
  let initUri: string | undefined;
  const pace = createPace(JOIN_BEFORE_END * playlist.targetMs);
  const keys = createKeyring(source);
  try {
    for (;;) {
      const fresh = playlist.segments.filter((segment) => segment.number >= next);
      for (const segment of fresh) {
        await pace(segment.durationMs / CATCHING_UP, signal);
        if (segment.initUri !== undefined && segment.initUri !== initUri) {
          initUri = segment.initUri;
          yield await source(initUri, MAX_SEGMENT_BYTES);
        }
        yield await readSegment(source, keys, segment);
        next = segment.number + 1;
      }
      if (playlist.isComplete) break;
      const pauseMs = pauseBeforeReload({ targetMs: playlist.targetMs, isNew: fresh.length > 0, readingMs });
      await delay(Math.max(0, loadedAt + pauseMs - performance.now()), undefined, { signal });
      loadedAt = performance.now();
      ({ playlist, readingMs } = await reload(source, uri, signal));
      const last = playlist.segments.at(-1)?.number ?? 0;
      // The server restarted its numbering.
      if (last < next - 1) next = playlist.segments.at(-JOIN_BEFORE_END)?.number ?? 0;
    }
    state.isFinished = true;
  } catch (error) {
    state.reason ??= sourceReasonOf(error);
  }
}

async function reload(
  source: Fetch,
  uri: string,
  signal: AbortSignal,
): Promise<{ playlist: MediaPlaylist; readingMs: number }> {
  for (let tries = 1; ; tries += 1) {
    try {
      const text = (await source(uri, MAX_PLAYLIST_BYTES)).toString('utf8');
      const startedAt = performance.now();
      const playlist = readPlaylist(text, uri);
      if (playlist.kind === 'variants') throw new SourceError('unreadable');
      return { playlist, readingMs: performance.now() - startedAt };
    } catch (error) {
      if (tries >= RELOAD_TRIES) throw error;
      await delay(1000, undefined, { signal });
    }
  }
}

/** Keys by their address; one is used for many pieces, so the last one is kept. */
function createKeyring(source: Fetch): (uri: string) => Promise<Buffer> {
  let last: { uri: string; secret: Buffer } | undefined;
  return async (uri) => {
    if (last?.uri !== uri) last = { uri, secret: await source(uri, 16) };
    return last.secret;
  };
}

async function readSegment(
  source: Fetch,
  keys: ReturnType<typeof createKeyring>,
  { uri, key }: HlsSegment,
): Promise<Buffer> {
  const bytes = await source(uri, MAX_SEGMENT_BYTES);
  if (!key) return bytes;
  const secret = await keys(key.uri);
  try {
    const decipher = createDecipheriv('aes-128-cbc', secret, key.iv);
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch {
    throw new SourceError('unreadable');
  }
}

/** Fetches anything a playlist names. Credentials go to the host they were given for and to no other. */
function createFetcher(options: HttpOptions): Fetch {
  const { url: origin, address, addresses } = options;
  const pace = createPace(REQUESTS_AHEAD_MS);
  return async (uri, maxBytes) => {
    const url = addresses.parse(uri);
    await pace(REQUEST_MS, options.signal);
    const isOrigin = url.authority === origin.authority && url.scheme === origin.scheme;
    const host = url.host === origin.host ? address : url.host;
    const target = await addresses.resolve({ host, port: url.port }, options.signal);
    const response = await getPinned(url, {
      ...options,
      address: target,
      credentials: isOrigin ? credentialsOf(origin) : undefined,
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(SEGMENT_TIMEOUT_MS)]),
    });
    return readAll(response.body, maxBytes);
  };
}

async function readAll(body: Readable, maxBytes: number): Promise<Buffer> {
  try {
    return await readBody(body, maxBytes);
  } catch (error) {
    body.on('error', () => undefined).destroy();
    throw new SourceError(error instanceof BodyTooLargeError ? 'unreadable' : sourceReasonOf(error));
  }
}

async function once(pieces: Readable): Promise<[Buffer] | undefined> {
  for await (const piece of pieces.iterator({ destroyOnReturn: false })) return [piece as Buffer];
  return undefined;
}
