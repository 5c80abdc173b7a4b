import assert from 'node:assert/strict';
import { Parser } from 'm3u8-parser';
import type { Entry, Manifest } from 'm3u8-parser';
import { SourceError } from '@vision/streams/source-error';
import { readPlaylist } from '../../../services/inference/src/inputs/hls-playlist.ts';
import type { HlsPlaylist, HlsSegment } from '../../../services/inference/src/inputs/hls-playlist.ts';
import { attempt } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const BASE = 'http://camera.example.org/live/index.m3u8?a=b';
const LARGEST_WIDTH = 1280;

/**
 * Playlists in the eyes of the parser of a widely used player (m3u8-parser of video.js): where both accept one, they
 * fetch the same addresses in the same order, with the same headers, keys and initialisation vectors.
 */
export const target: FuzzTarget = {
  maxBytes: 16_384,
  check: (input) => {
    const text = input.toString('utf8');
    const outcome = attempt(() => readPlaylist(text, BASE), { by: SourceError });
    if ('refused' in outcome) return;
    const manifest = manifestOf(text);
    if (!manifest || isReadOtherwise(manifest)) return;
    // Any of the variants is analysed; what is no list of attributes names none of them.
    if (outcome.read.kind === 'variants' && !hasPlainVariants(text)) return;
    if (outcome.read.kind === 'variants') checkVariant(outcome.read.uri, manifest.playlists ?? []);
    else checkSegments(outcome.read, manifest);
  },
};

function manifestOf(text: string): Manifest | undefined {
  const parser = new Parser();
  try {
    parser.push(`${text}\n`);
    parser.end();
    return parser.manifest;
  } catch {
    // It has no refusals: what it cannot read makes it fail somewhere.
    return undefined;
  }
}

/** RFC 8216, 4.2, without quotes in quotes. */
const VARIANT = /^#EXT-X-STREAM-INF:([A-Z0-9-]+=("[^"']*"|[^"',\s]+)(, *|$))*$/;

function hasPlainVariants(text: string): boolean {
  const variants = text.split(/\r?\n/).filter((line) => line.trim().startsWith('#EXT-X-STREAM-INF'));
  return variants.every((line) => VARIANT.test(line.trim()));
}

/** Differences that are meant: we put no variables into addresses. */
function isReadOtherwise({ definitions }: Manifest): boolean {
  return definitions !== undefined;
}

function checkSegments(ours: Extract<HlsPlaylist, { kind: 'segments' }>, manifest: Manifest): void {
  const { segments, mediaSequence = 0, endList = false } = manifest;
  assert.equal(ours.isComplete, endList);
  assert.deepEqual(
    ours.segments.map(fetchOf),
    segments.map((segment, index) => fetchByOther(segment, mediaSequence + index)),
  );
}

interface Fetch {
  number: number;
  uri: string;
  initUri: string | undefined;
  key: string | undefined;
}

function fetchOf({ number, uri, initUri, key }: HlsSegment): Fetch {
  const secret = key && `${plain(key.uri)} ${key.iv.toString('hex')}`;
  return { number, uri: plain(uri), initUri: initUri === undefined ? undefined : plain(initUri), key: secret };
}

function fetchByOther({ uri, map, key, byterange }: Entry, number: number): Fetch {
  assert.deepEqual([byterange, map?.byterange], [undefined, undefined], 'a part of a file is taken for the file');
  const initUri = map && addressOf(map.uri);
  if (!key) return { number, uri: addressOf(uri), initUri, key: undefined };
  assert.equal(key.method, 'AES-128');
  return { number, uri: addressOf(uri), initUri, key: `${addressOf(key.uri)} ${vectorOf(key.iv, number)}` };
}

/** Four numbers of 32 bits; the number of the segment when there are none (RFC 8216, 5.2). */
function vectorOf(iv: Uint32Array | undefined, number: number): string {
  if (!iv) return number.toString(16).padStart(32, '0');
  return [...iv].map((part) => part.toString(16).padStart(8, '0')).join('');
}

/** The widest variant that is not wider than what is analysed, or the narrowest one; of equal ones the first. */
function checkVariant(uri: string, playlists: readonly Entry[]): void {
  const widthOf = ({ attributes }: Entry) => attributes?.RESOLUTION?.width ?? 0;
  const fitting = playlists.filter((entry) => widthOf(entry) <= LARGEST_WIDTH);
  const widths = (fitting.length > 0 ? fitting : playlists).map(widthOf);
  const wanted = fitting.length > 0 ? Math.max(...widths) : Math.min(...widths);
  const chosen = playlists.find((entry) => widthOf(entry) === wanted);
  assert.equal(plain(uri), addressOf(chosen?.uri));
}

function addressOf(uri: string | undefined): string {
  assert.ok(uri !== undefined, 'an entry without an address');
  const url = new URL(uri, BASE);
  url.hash = '';
  return plain(url.href);
}

/** Characters that one writes as they are and the other one escapes. */
function plain(uri: string): string {
  return uri.replaceAll(/%(25|5C|5E|60|7B|7C|7D)/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}
