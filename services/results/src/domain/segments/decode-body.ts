import type { TrackedObject } from '@vision/shared/contracts/detection';
import { z } from 'zod';
import { selectObjects } from '../stored-objects.ts';
import { ByteReader, SegmentDamagedError } from './bytes.ts';
import { readNumbers, unseenTrack } from './columns.ts';
import type { TrackState } from './columns.ts';
import type { FrameObjects, Words } from './encode-body.ts';
import { fixedPoints } from './fixed-point.ts';
import type { FixedPoint } from './fixed-point.ts';
import { unpack } from './pack.ts';

/** The objects of the frames of one segment, by the index of the frame. */
export interface SegmentBody {
  /** Objects at or above a score as a JSON array, and how many there are in all. */
  select: (index: number, minScore: number) => { json: string; total: number };
  /** All objects of a frame, as they were stored. */
  objectsOf: (index: number) => FrameObjects;
}

/** Numbers of all objects, in the order of frames. */
interface Columns {
  labels: Int32Array;
  tracks: Int32Array;
  scores: Int32Array;
  a: Int32Array;
  b: Int32Array;
  c: Int32Array;
  d: Int32Array;
}

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

const wordsSchema = z.object({
  labels: z.array(z.string()),
  tracks: z.array(z.string()),
  texts: z.array(z.tuple([z.number(), z.string()])),
});

function readWords(block: Buffer): Words {
  try {
    return wordsSchema.parse(JSON.parse(block.toString('utf8')));
  } catch (error) {
    throw new SegmentDamagedError('its words cannot be read', { cause: error });
  }
}

function readColumns(reader: ByteReader, counts: readonly number[], words: Words): Columns {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const [places, newTracks, labelCodes] = [1, 2, 3].map(() => new ByteReader(reader.block()));
  if (!places || !newTracks || !labelCodes || places.left() < total)
    throw new SegmentDamagedError('a column has another length');
  const columns: Columns = {
    labels: new Int32Array(total),
    tracks: new Int32Array(total),
    scores: readNumbers(reader, total),
    a: readNumbers(reader, total),
    b: readNumbers(reader, total),
    c: readNumbers(reader, total),
    d: readNumbers(reader, total),
  };
  const states: TrackState[] = [];
  let at = 0;
  let before: number[] = [];
  for (const count of counts) {
    const seen: number[] = [];
    let score = 0;
    for (let place = 0; place < count; place += 1, at += 1) {
      const code = places.unsigned();
      const track = code === 0 ? newTracks.unsigned() : before[place + unfold(code - 1)];
      if (track === undefined || track >= words.tracks.length) throw new SegmentDamagedError('a track is unknown');
      const state = (states[track] ??= unseenTrack());
      const labelCode = labelCodes.unsigned();
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

const unfold = (value: number) => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

interface Parts {
  form: FixedPoint;
  columns: Columns;
  /** Where the objects of each frame begin in the columns; one more than frames. */
  starts: number[];
  texts: Map<number, string>;
  words: Words;
}

class ColumnBody implements SegmentBody {
  readonly #parts: Parts;
  /** `{"label":…` of each label, and the end of an object of each track. */
  readonly #beginnings: string[];
  readonly #ends: string[];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#beginnings = parts.words.labels.map((label) => `{"label":${JSON.stringify(label)},"score":`);
    this.#ends = parts.words.tracks.map((track) => `},"track_id":${JSON.stringify(track)}}`);
  }

  select(index: number, minScore: number): { json: string; total: number } {
    const { texts, form, columns } = this.#parts;
    const text = texts.get(index);
    if (text !== undefined) return selectObjects(text, minScore);
    const [start, end] = this.#span(index);
    let json = '[';
    for (let at = start; at < end; at += 1) {
      if (form.scoreOf(columns.scores[at] ?? 0) < minScore) break;
      if (at > start) json += ',';
      json += this.#objectText(at);
    }
    return { json: `${json}]`, total: end - start };
  }

  objectsOf(index: number): FrameObjects {
    const text = this.#parts.texts.get(index);
    if (text !== undefined) return text;
    const [start, end] = this.#span(index);
    const objects: TrackedObject[] = [];
    // What was written as an object is one again.
    for (let at = start; at < end; at += 1) objects.push(JSON.parse(this.#objectText(at)) as TrackedObject);
    return objects;
  }

  #span(index: number): [start: number, end: number] {
    const { starts } = this.#parts;
    const [start, end] = [starts[index], starts[index + 1]];
    if (start === undefined || end === undefined) throw new SegmentDamagedError(`it has no frame ${index}`);
    return [start, end];
  }

  /** In the form and order of JSON.stringify, which the API shows (`contracts/detection.ts`). */
  #objectText(at: number): string {
    const { form, columns } = this.#parts;
    const { labels, tracks, scores, a, b, c, d } = columns;
    const box = form.boxText(a[at] ?? 0, b[at] ?? 0, c[at] ?? 0, d[at] ?? 0);
    const score = form.scoreText(scores[at] ?? 0);
    return `${this.#beginnings[labels[at] ?? 0]}${score},"bbox":{"format":"cxcywh_normalized",${box}${this.#ends[tracks[at] ?? 0]}`;
  }
}
