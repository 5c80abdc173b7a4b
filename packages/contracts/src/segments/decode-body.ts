import type { TrackedObject } from '../detection.ts';
import { ByteReader, SegmentDamagedError } from './bytes.ts';
import { readCodes, readNumbers, unfold, unseenTrack } from './columns.ts';
import type { TrackState } from './columns.ts';
import type { FrameObjects, Words } from './encode-body.ts';
import { CENTRE_DECIMALS, fixedPoints } from './fixed-point.ts';
import type { FixedPoint } from './fixed-point.ts';
import { unpack } from './pack.ts';

/** Numbers of all objects, in the order of frames. */
export interface Columns {
  labels: Int32Array;
  tracks: Int32Array;
  scores: Int32Array;
  a: Int32Array;
  b: Int32Array;
  c: Int32Array;
  d: Int32Array;
}

export interface BodyParts {
  form: FixedPoint;
  columns: Columns;
  /** Where the objects of each frame begin in the columns; one more than frames. */
  starts: number[];
  /** Frames whose objects are kept as their text. */
  texts: Map<number, string>;
  words: Words;
}

/**
 * Opens what `encodeBody` wrote; `counts` says how many objects each frame has (`FrameHead`).
 * @throws SegmentDamagedError for anything else.
 */
export const decodeBody = (bytes: Buffer, counts: readonly number[]): BodyParts =>
  readBody(new ByteReader(unpack(bytes)), counts, (words) => words);

/**
 * Reads what `writeBody` wrote; `wordsOf` makes the words of the JSON that stands for them.
 * @throws SegmentDamagedError for anything else.
 */
export function readBody(
  reader: ByteReader,
  counts: readonly number[],
  wordsOf: (json: unknown) => unknown,
): BodyParts {
  const form = fixedPoints[reader.byte()];
  if (!form) throw new SegmentDamagedError('its numbers have an unknown form');
  const words = readWords(reader.block(), wordsOf);
  const texts = new Map(words.texts);
  const inColumns = counts.map((count, index) => (texts.has(index) ? 0 : count));
  if (inColumns.some((count) => count < 0)) throw new SegmentDamagedError('a frame has less than no objects');
  const columns = readColumns(reader, inColumns, words);
  const starts = [0];
  for (const count of inColumns) starts.push((starts.at(-1) ?? 0) + count);
  return { form, columns, starts, texts, words };
}

/** Where the objects of a frame stand in the columns. @throws SegmentDamagedError when there is no such frame */
export function spanOf({ starts }: BodyParts, index: number): [start: number, end: number] {
  const [start, end] = [starts[index], starts[index + 1]];
  if (start === undefined || end === undefined) throw new SegmentDamagedError(`it has no frame ${index}`);
  return [start, end];
}

/** The objects of a frame as they were written, or their text. */
export function objectsIn(parts: BodyParts, index: number): FrameObjects {
  const { texts, words, form, columns } = parts;
  const text = texts.get(index);
  if (text !== undefined) return text;
  const [start, end] = spanOf(parts, index);
  const objects: TrackedObject[] = [];
  const [scores, centres, sizes] = [10 ** form.scoreDecimals, 10 ** CENTRE_DECIMALS, 10 ** form.sizeDecimals];
  for (let at = start; at < end; at += 1) {
    const width = columns.c[at] ?? 0;
    const height = columns.d[at] ?? 0;
    objects.push({
      label: words.labels[columns.labels[at] ?? 0] ?? '',
      score: (columns.scores[at] ?? 0) / scores,
      bbox: {
        format: 'cxcywh_normalized',
        cx: form.centreOf(columns.a[at] ?? 0, width) / centres,
        cy: form.centreOf(columns.b[at] ?? 0, height) / centres,
        width: width / sizes,
        height: height / sizes,
      },
      track_id: words.tracks[columns.tracks[at] ?? 0] ?? '',
    });
  }
  return objects;
}

function readWords(block: Buffer, wordsOf: (json: unknown) => unknown): Words {
  try {
    const words = wordsOf(JSON.parse(block.toString('utf8')));
    if (isWords(words)) return words;
  } catch (error) {
    throw new SegmentDamagedError('its words cannot be read', { cause: error });
  }
  throw new SegmentDamagedError('its words have another form');
}

/** By hand: there are as many to look at as a page has segments, and a schema takes longer than their columns. */
function isWords(words: unknown): words is Words {
  const { labels, tracks, texts } = (words ?? {}) as Partial<Record<keyof Words, unknown>>;
  return isList(labels, isText) && isList(tracks, isText) && isList(texts, isTextOfFrame);
}

const isList = (value: unknown, isItem: (item: unknown) => boolean) => Array.isArray(value) && value.every(isItem);
const isText = (value: unknown) => typeof value === 'string';
const isTextOfFrame = (value: unknown) =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'number' && isText(value[1]);

function readColumns(reader: ByteReader, counts: readonly number[], words: Words): Columns {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const places = readCodes(reader, total);
  const newTracks = new ByteReader(reader.block());
  const labelCodes = readCodes(reader, total);
  // One piece of memory for all: hot segments are small and many.
  const memory = new ArrayBuffer(7 * 4 * total);
  const column = (place: number) => new Int32Array(memory, place * 4 * total, total);
  const columns: Columns = {
    labels: column(0),
    tracks: column(1),
    scores: readNumbers(reader, column(2)),
    a: readNumbers(reader, column(3)),
    b: readNumbers(reader, column(4)),
    c: readNumbers(reader, column(5)),
    d: readNumbers(reader, column(6)),
  };
  const states: TrackState[] = [];
  let at = 0;
  let before: number[] = [];
  for (const count of counts) {
    const seen: number[] = [];
    let score = 0;
    for (let place = 0; place < count; place += 1, at += 1) {
      const code = places[at] ?? 0;
      const track = code === 0 ? newTracks.unsigned() : before[place + unfold(code - 1)];
      if (track === undefined || track >= words.tracks.length) throw new SegmentDamagedError('a track is unknown');
      const state = (states[track] ??= unseenTrack());
      const labelCode = labelCodes[at] ?? 0;
      if (labelCode > 0) state.label = labelCode - 1;
      if (state.label < 0 || state.label >= words.labels.length) throw new SegmentDamagedError('a label is unknown');
      columns.tracks[at] = track;
      columns.labels[at] = state.label;
      score += columns.scores[at] ?? 0;
      columns.scores[at] = score;
      addDifferences(columns, at, state);
      seen.push(track);
    }
    before = seen;
  }
  return columns;
}

/** Makes what changed since the last object of the track the numbers themselves. */
function addDifferences({ a, b, c, d }: Columns, at: number, state: TrackState): void {
  a[at] = state.a += a[at] ?? 0;
  b[at] = state.b += b[at] ?? 0;
  c[at] = state.c += c[at] ?? 0;
  d[at] = state.d += d[at] ?? 0;
}
