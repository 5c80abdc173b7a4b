import { ByteReader, SegmentDamagedError } from './bytes.ts';
import { ColumnBody } from './column-body.ts';
import type { Columns, SegmentBody } from './column-body.ts';
import { readCodes, readNumbers, unfold, unseenTrack } from './columns.ts';
import type { TrackState } from './columns.ts';
import type { Words } from './encode-body.ts';
import { fixedPoints } from './fixed-point.ts';
import { unpack } from './pack.ts';

/**
 * Opens what `encodeBody` wrote; `counts` says how many objects each frame has (`FrameHead`).
 * @throws SegmentDamagedError for anything else.
 */
export function decodeBody(bytes: Buffer, counts: readonly number[]): SegmentBody {
  const reader = new ByteReader(unpack(bytes));
  const form = fixedPoints[reader.byte()];
  if (!form) throw new SegmentDamagedError('its numbers have an unknown form');
  const words = readWords(reader.block());
  const texts = new Map(words.texts);
  const inColumns = counts.map((count, index) => (texts.has(index) ? 0 : count));
  const columns = readColumns(reader, inColumns, words);
  const starts = [0];
  for (const count of inColumns) starts.push((starts.at(-1) ?? 0) + count);
  return new ColumnBody({ form, columns, starts, texts, words });
}

function readWords(block: Buffer): Words {
  try {
    const words: unknown = JSON.parse(block.toString('utf8'));
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
  // One piece of memory for all: young segments are small and many.
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
