import * as hls from 'hls-parser';
import { SourceError } from '@vision/streams/source-error';
import { meantLines } from './hls-lines.ts';

/** One segment of a stream. Addresses are absolute. */
export interface HlsSegment {
  number: number;
  uri: string;
  /** Duration in the playlist; at most a minute. */
  durationMs: number;
  /** Header that must precede the segment, when it differs from the last one sent. */
  initUri: string | undefined;
  /** AES-128 of the whole segment. */
  key: { uri: string; iv: Buffer } | undefined;
}

export type HlsPlaylist =
  | { kind: 'variants'; uri: string }
  | { kind: 'segments'; segments: HlsSegment[]; isComplete: boolean; targetMs: number };

// Otherwise the library prints unparsable text to the console, addresses included.
hls.setOptions({ silent: true });

// Characters that `URL` leaves unencoded, although RFC 3986 and our grammar of addresses require the encoding.
const LEFT_RAW = /[\\^`{|}]|%(?![0-9a-fA-F]{2})/g;

// A larger variant brings nothing: frames are scaled down to about this width.
const WIDTH = 1280;

const LONGEST_S = 60;

/**
 * Reads an HTTP Live Streaming playlist (RFC 8216). Of several variants the largest up to 1280 pixels is chosen.
 *
 * @throws SourceError `unreadable` for text that is no playlist, `codec_unsupported` for encryption other than AES-128
 */
export function readPlaylist(text: string, base: string): HlsPlaylist {
  const playlist = parse(text);
  const absolute = (uri: string | undefined) => {
    // An empty address would resolve to that of the playlist.
    if (uri === undefined || uri === '') throw new SourceError('unreadable');
    const url = URL.parse(uri, base);
    if (!url || !['http:', 'https:'].includes(url.protocol)) throw new SourceError('address_forbidden');
    url.hash = '';
    return url.href.replaceAll(LEFT_RAW, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  };
  if (playlist.isMasterPlaylist) return { kind: 'variants', uri: absolute(chosenVariant(playlist.variants).uri) };
  const { segments, endlist } = playlist;
  // The library also accepts a text without any content as a playlist.
  const targetDuration: number | undefined = playlist.targetDuration;
  if (!Number.isFinite(targetDuration)) throw new SourceError('unreadable');
  return {
    kind: 'segments',
    isComplete: endlist,
    targetMs: Math.min(LONGEST_S, Math.max(1, targetDuration)) * 1000,
    segments: segments.map((segment: Partial<hls.types.Segment>) => {
      const { mediaSequenceNumber: number = 0, uri, duration = 0 } = segment;
      // Beyond this, consecutive numbers are no longer distinct.
      if (!Number.isSafeInteger(number) || number < 0) throw new SourceError('unreadable');
      if ([segment.byterange, segment.map?.byterange].some((range) => range !== undefined)) {
        throw new SourceError('unreadable');
      }
      const initUri = segment.map ? absolute(segment.map.uri) : undefined;
      const durationMs = Math.min(LONGEST_S, Math.max(0, duration)) * 1000;
      return { number, uri: absolute(uri), durationMs, initUri, key: keyOf(segment.key, number, absolute) };
    }),
  };
}

/** Reading playlists takes at most this part of the time. */
const READING_SHARE = 0.05;

/**
 * Time between two loads of a playlist (RFC 8216, 6.3.4): the target duration, half of it when no segment was new, and
 * longer for a playlist that took long to read.
 */
export function pauseBeforeReload(last: { targetMs: number; isNew: boolean; readingMs: number }): number {
  return Math.max(last.targetMs / (last.isNew ? 1 : 2), last.readingMs / READING_SHARE);
}

function parse(text: string): hls.types.MasterPlaylist | hls.types.MediaPlaylist {
  const lines = meantLines(text);
  try {
    return hls.parse(lines.join('\n'));
  } catch {
    throw new SourceError('unreadable');
  }
}

function chosenVariant(variants: readonly hls.types.Variant[]): hls.types.Variant {
  const usable = variants.filter((variant) => variant.isIFrameOnly !== true);
  const widthOf = (variant: hls.types.Variant) => variant.resolution?.width ?? 0;
  const fitting = usable.filter((variant) => widthOf(variant) <= WIDTH).sort((a, b) => widthOf(b) - widthOf(a));
  const [chosen = usable.sort((a, b) => widthOf(a) - widthOf(b))[0]] = fitting;
  if (!chosen) throw new SourceError('no_video_track');
  return chosen;
}

function keyOf(key: hls.types.Key | null | undefined, number: number, absolute: (uri: string | undefined) => string) {
  if (!key || key.method === 'NONE') return undefined;
  // Keys of other formats are not sixteen bytes at an address.
  const isPlain = key.format === undefined || key.format === 'identity';
  if (key.method !== 'AES-128' || !isPlain) throw new SourceError('codec_unsupported');
  const iv = Buffer.alloc(16);
  if (key.iv) Buffer.from(key.iv).copy(iv);
  else iv.writeBigUInt64BE(BigInt(number), 8);
  return { uri: absolute(key.uri), iv };
}
