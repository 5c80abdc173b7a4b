import { Readable, pipeline } from 'node:stream';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { sniffContainer } from '@vision/streams/container-format';
import { pauseBeforeReload, readPlaylist } from './hls-playlist.ts';
import type { HlsPlaylist } from './hls-playlist.ts';
import { MAX_PLAYLIST_BYTES, PIECE_TIMEOUT_MS, createHlsSource, readAll } from './hls-source.ts';
import type { HlsSource } from './hls-source.ts';
import type { HttpOptions, LiveInput } from './live-input.ts';
import { createPace } from './pace.ts';
import { readHead } from './read-head.ts';
import { SourceError, sourceReasonOf } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';
import { withinTime } from '@vision/streams/within-time';

// Live streams are joined this many pieces before their end, as players do.
const JOIN_BEFORE_END = 3;
const RELOAD_TRIES = 3;
// A reader that fell behind may catch up at twice the pace of the stream.
const MAX_CATCH_UP = 2;
/** However short pieces say that they are: a dozen at once and then two a second. No encoder makes shorter ones. */
const PIECE_MS = 500;
const MAX_PIECES_AHEAD = 12;
/** Read before ffmpeg asks for it: some seconds of video, so that the way to the next piece is no gap. */
const AHEAD_BYTES = 2 << 20;

type MediaPlaylist = Extract<HlsPlaylist, { kind: 'segments' }>;

/**
 * Opens an HLS stream whose playlist has begun to arrive. Playlists, keys and pieces are fetched here; ffmpeg gets the
 * pieces while they arrive and never sees a playlist.
 */
export async function openPlaylist(options: HttpOptions, body: Readable): Promise<LiveInput> {
  const { scheme, authority, pathAndQuery } = options.url;
  const source = createHlsSource(options);
  let uri = `${scheme}://${authority}${pathAndQuery}`;
  const text = await withinTime(readAll(body, MAX_PLAYLIST_BYTES), options.openTimeoutMs, () => body.destroy());
  let playlist = readPlaylist(text.toString('utf8'), uri);
  if (playlist.kind === 'variants') {
    uri = playlist.uri;
    playlist = readPlaylist(await source.playlist(uri), uri);
  }
  // A playlist of playlists may name playlists of pieces, and no further level.
  if (playlist.kind === 'variants') throw new SourceError('unreadable');
  const failed = { reason: undefined as SourceReason | undefined, isFinished: false };
  const reading = { source, uri, first: playlist, signal: options.signal, state: failed };
  const pieces = Readable.from(readPieces(reading), { objectMode: false, highWaterMark: AHEAD_BYTES });
  pieces.on('error', () => undefined);
  const { head, whole } = await readHead(pieces, PIECE_TIMEOUT_MS);
  const format = sniffContainer(head);
  if (format !== 'mpegts' && format !== 'mov') {
    pieces.destroy();
    throw new SourceError(failed.reason ?? 'unreadable');
  }
  return {
    format: { container: format, delivery: 'pieces' },
    feed: (video: Writable) => pipeline(whole, video, () => undefined),
    failure: () => failed.reason,
    isFinished: () => failed.isFinished,
    close: () => {
      whole.destroy();
      pieces.destroy();
    },
  };
}

interface Reading {
  source: HlsSource;
  uri: string;
  first: MediaPlaylist;
  signal: AbortSignal;
  state: { reason: SourceReason | undefined; isFinished: boolean };
}

/** The pieces in order, until the playlist is complete or the source fails. */
async function* readPieces({ source, uri, first, signal, state }: Reading): AsyncGenerator<Buffer, void> {
  let playlist = first;
  let readingMs = 0;
  let loadedAt = performance.now();
  let next = playlist.isComplete ? 0 : (playlist.segments.at(-JOIN_BEFORE_END)?.number ?? 0);
  let initUri: string | undefined;
  const pace = createPace(JOIN_BEFORE_END * playlist.targetMs);
  const piecePace = createPace(MAX_PIECES_AHEAD * PIECE_MS);
  try {
    for (;;) {
      const fresh = playlist.segments.filter((segment) => segment.number >= next);
      for (const segment of fresh) {
        await pace(segment.durationMs / MAX_CATCH_UP, signal);
        await piecePace(PIECE_MS, signal);
        if (segment.initUri !== undefined && segment.initUri !== initUri) {
          initUri = segment.initUri;
          yield* source.piece({ uri: initUri, key: undefined });
        }
        yield* source.piece(segment);
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
  source: HlsSource,
  uri: string,
  signal: AbortSignal,
): Promise<{ playlist: MediaPlaylist; readingMs: number }> {
  for (let tries = 1; ; tries += 1) {
    try {
      const text = await source.playlist(uri);
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
