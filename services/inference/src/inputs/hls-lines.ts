import { SourceError } from '@vision/streams/source-error';

// Reading them takes time that grows with their square; the largest services offer some dozens.
const MAX_VARIANTS = 100;
// Signed addresses have some thousand characters.
const MAX_LINE = 16_384;
/** Ten thousand pieces: sixteen hours of six seconds each. */
const MAX_LINES = 20_000;

const VARIANT = 'EXT-X-STREAM-INF';
const DURATION = 'EXTINF';
const KEY = 'EXT-X-KEY';
const MAP = 'EXT-X-MAP';
const OF_ONE_PIECE = [DURATION, KEY, MAP, 'EXT-X-BYTERANGE'];
const FIRST_NUMBER = 'EXT-X-MEDIA-SEQUENCE';
const OF_ALL_PIECES = ['EXT-X-TARGETDURATION', FIRST_NUMBER, 'EXT-X-ENDLIST'];
// The library spends as long on a line that tells us nothing as on a piece.
const TAGS = ['EXTM3U', 'EXT-X-VERSION', VARIANT, ...OF_ONE_PIECE, ...OF_ALL_PIECES];
const TAG = new RegExp(`^#(${TAGS.join('|')})(?::(.*)|)$`, 's');
/** Some readers take a tag by its beginning, others take it for one that they do not know. */
const LONGER_TAG = new RegExp(`^#(${TAGS.join('|')})[^:]`, 's');

/** A playlist has no control characters (RFC 8216, 4.1). Some readers end a line at the last two. */
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/;
/** Some readers leave it out and join what stands around it. */
const CR_IN_A_LINE = /\r(?![\r\n]|$)/;
/** RFC 8216, 4.2. A blank behind the comma is common; some readers take an apostrophe for a quote. */
const ATTRIBUTE = /([A-Z0-9-]+)=("[^"']*"|[^"',\s]+)(?:, *|$)/y;
const SIZES = /RESOLUTION\s*=([^,]*)/g;
const SIZE = /^\d{1,5}x\d{1,5}$/;
const VECTOR = /^0x[0-9a-f]{32}$/i;

interface Line {
  text: string;
  /** Undefined for an address. */
  tag: string | undefined;
  /** What follows the colon of the tag. */
  value: string;
}

/**
 * Returns the lines of a playlist that decide what is fetched, for a lenient library to parse. Each statement has one
 * form here and every other form is refused: readers differ in what they make of the others.
 *
 * @throws SourceError `unreadable`
 */
export function meantLines(text: string): string[] {
  if (CR_IN_A_LINE.test(text)) refuse();
  const all = text.split(/\r?\n/, MAX_LINES + 1);
  if (all.length > MAX_LINES || all.some((line) => line.length > MAX_LINE)) refuse();
  const lines = all.map((line) => lineOf(line.trim())).filter((line) => line !== undefined);
  if (lines[0]?.tag !== 'EXTM3U' || lines.some((line) => CONTROL.test(line.text))) refuse();
  const isOfVariants = lines.some(({ tag }) => tag === VARIANT);
  const meant = isOfVariants ? lines : withoutRest(lines);
  if (isOfVariants) checkVariants(meant);
  else checkPieces(meant);
  return meant.map((line) => line.text);
}

/** Undefined for a line that tells nothing of pieces and variants. */
function lineOf(text: string): Line | undefined {
  if (text === '') return undefined;
  if (!text.startsWith('#')) return { text, tag: undefined, value: '' };
  if (LONGER_TAG.test(text)) refuse();
  const [, tag, value = ''] = TAG.exec(text) ?? [];
  return tag === undefined ? undefined : { text, tag, value: value.trim() };
}

/** A playlist that was read while it was written has tags whose address is still missing. */
function withoutRest(lines: readonly Line[]): Line[] {
  const last = lines.findLastIndex(({ tag }) => tag === undefined);
  return lines.filter(({ tag = '' }, index) => index <= last || !OF_ONE_PIECE.includes(tag));
}

/** Each variant is followed by its address. */
function checkVariants(lines: readonly Line[]): void {
  let variants = 0;
  for (const [index, { tag, value }] of lines.entries()) {
    const isBehindVariant = lines[index - 1]?.tag === VARIANT;
    if ((tag === undefined) !== isBehindVariant) refuse();
    if (tag !== undefined && [...OF_ONE_PIECE, ...OF_ALL_PIECES].includes(tag)) refuse();
    if (tag !== VARIANT) continue;
    // Readers take different numbers from what is no size, or the first or last of two.
    const sizes = [...value.matchAll(SIZES)].map(([, size = '']) => size);
    if (sizes.length > 1 || !sizes.every((size) => SIZE.test(size))) refuse();
    variants += 1;
  }
  if (variants > MAX_VARIANTS || lines.at(-1)?.tag === VARIANT) refuse();
}

/** Each address follows one duration; what holds for all pieces is said once, the first number before all of them. */
function checkPieces(lines: readonly Line[]): void {
  const known = new Set<string>();
  let durations = 0;
  let pieces = 0;
  for (const { tag, value } of lines) {
    if (tag === undefined) {
      if (durations !== 1) refuse();
      durations = 0;
      pieces += 1;
      continue;
    }
    if (OF_ALL_PIECES.includes(tag) && known.has(tag)) refuse();
    known.add(tag);
    if (tag === DURATION) durations += 1;
    if (tag === FIRST_NUMBER && (pieces > 0 || !/^\d+$/.test(value))) refuse();
    if (tag === KEY || tag === MAP) checkAttributes(value);
  }
}

function checkAttributes(text: string): void {
  const known = new Set<string>();
  ATTRIBUTE.lastIndex = 0;
  for (let at = 0; at < text.length; at = ATTRIBUTE.lastIndex) {
    const [, name = '', value = ''] = ATTRIBUTE.exec(text) ?? refuse();
    if (known.has(name) || (name === 'IV' && !VECTOR.test(value))) refuse();
    known.add(name);
  }
}

function refuse(): never {
  throw new SourceError('unreadable');
}
