import { objectsIn, spanOf } from '@vision/contracts/segments/decode-body';
import type { BodyParts } from '@vision/contracts/segments/decode-body';
import type { FrameObjects, Words } from '@vision/contracts/segments/encode-body';
import { CENTRE_DECIMALS, NUMBERS } from '@vision/contracts/segments/fixed-point';
import type { ObjectView } from '../fold/tracks.ts';
import { eachStoredObject, selectObjects } from '../stored-objects.ts';
import { isFiltering, isInArea } from '../object-filter.ts';
import type { ObjectFilter } from '../object-filter.ts';
import { MOST_FRACTION_BYTES, putBytes, putFraction } from './object-text.ts';

/** The objects of the frames of one segment, by the index of the frame. */
export interface SegmentBody {
  /** JSON array (text or bytes) of the objects at or above a score that match a filter, and the number of all. */
  select: (index: number, minScore: number, filter?: ObjectFilter) => { json: string | Uint8Array; total: number };
  /** All objects of a frame, as they were stored. */
  objectsOf: (index: number) => FrameObjects;
  /** Calls `take` with each object of a frame; the instance is reused for the next one. */
  eachObject: (index: number, take: (object: ObjectView) => void) => void;
}

const NOTHING = Buffer.alloc(0);
const COMMA = 0x2c;
const [BRACKET, CLOSING_BRACKET] = [0x5b, 0x5d];
const BOX = Buffer.from(',"bbox":{"format":"cxcywh_normalized","cx":');
const CY = Buffer.from(',"cy":');
const WIDTH = Buffer.from(',"width":');
const HEIGHT = Buffer.from(',"height":');
/** Maximum size of an object without its label and track, with the bytes before it and after the last one. */
const MOST_BYTES = BOX.length + CY.length + WIDTH.length + HEIGHT.length + NUMBERS * MOST_FRACTION_BYTES + 2;
/** Buffers are allocated in this size: enough for a small segment, or some dozen frames of a large one. */
const MOST_ROOM = 64 * 1024;
const USUAL_OBJECT = 220;

/** Serialises objects from columns, in the form and order of JSON.stringify (`contracts/detection.ts`). */
export class ColumnBody implements SegmentBody {
  readonly #parts: BodyParts;
  /** `{"label":…` of each label, and the end of an object of each track; not needed by a fold. */
  #words: { beginnings: Buffer[]; ends: Buffer[] } | undefined;
  /** Buffer that earlier results share; written bytes are never changed. */
  #text = NOTHING;
  /** Start of the current array, and its end so far. */
  #from = 0;
  #to = 0;

  constructor(parts: BodyParts) {
    this.#parts = parts;
  }

  select(index: number, minScore: number, filter: ObjectFilter = {}): { json: string | Uint8Array; total: number } {
    const { texts, form, columns } = this.#parts;
    const text = texts.get(index);
    if (text !== undefined) return selectObjects(text, minScore, filter);
    const [start, end] = spanOf(this.#parts, index);
    const one = 10 ** form.scoreDecimals;
    let shown = start;
    while (shown < end && (columns.scores[shown] ?? 0) / one >= minScore) shown += 1;
    const passes = isFiltering(filter) ? (at: number) => this.#passes(at, filter) : undefined;
    return { json: this.#write(start, shown, passes), total: end - start };
  }

  objectsOf(index: number): FrameObjects {
    return objectsIn(this.#parts, index);
  }

  eachObject(index: number, take: (object: ObjectView) => void): void {
    const { texts, words, form, columns } = this.#parts;
    const text = texts.get(index);
    if (text !== undefined) {
      eachStoredObject(text, take);
      return;
    }
    const [start, end] = spanOf(this.#parts, index);
    const millionths = 10 ** (6 - form.scoreDecimals);
    const centre = 10 ** CENTRE_DECIMALS;
    const size = 10 ** form.sizeDecimals;
    const view: ObjectView = { label: '', trackId: '', score: 0, cx: 0, cy: 0, width: 0, height: 0 };
    for (let at = start; at < end; at += 1) {
      const width = columns.c[at] ?? 0;
      const height = columns.d[at] ?? 0;
      view.label = words.labels[columns.labels[at] ?? 0] ?? '';
      view.trackId = words.tracks[columns.tracks[at] ?? 0] ?? '';
      view.score = millionths * (columns.scores[at] ?? 0);
      view.cx = form.centreOf(columns.a[at] ?? 0, width) / centre;
      view.cy = form.centreOf(columns.b[at] ?? 0, height) / centre;
      view.width = width / size;
      view.height = height / size;
      take(view);
    }
  }

  #passes(at: number, { labels, trackId, area }: ObjectFilter): boolean {
    const { form, columns, words } = this.#parts;
    if (labels && !labels.has(words.labels[columns.labels[at] ?? 0] ?? '')) return false;
    if (trackId !== undefined && words.tracks[columns.tracks[at] ?? 0] !== trackId) return false;
    if (!area) return true;
    const [width, height] = [columns.c[at] ?? 0, columns.d[at] ?? 0];
    return isInArea(area, {
      cx: form.centreOf(columns.a[at] ?? 0, width) / 10 ** CENTRE_DECIMALS,
      cy: form.centreOf(columns.b[at] ?? 0, height) / 10 ** CENTRE_DECIMALS,
      height: height / 10 ** form.sizeDecimals,
    });
  }

  /** JSON array of these objects, or of those that match. */
  #write(start: number, end: number, passes?: (at: number) => boolean): Buffer {
    this.#from = this.#to;
    this.#makeRoom(2);
    this.#text[this.#to] = BRACKET;
    this.#to += 1;
    let follows = false;
    for (let at = start; at < end; at += 1) {
      if (passes && !passes(at)) continue;
      this.#writeObject(at, follows);
      follows = true;
    }
    this.#text[this.#to] = CLOSING_BRACKET;
    this.#to += 1;
    return this.#text.subarray(this.#from, this.#to);
  }

  #writeObject(at: number, follows: boolean): void {
    const { form, columns, words } = this.#parts;
    const { centreOf, scoreDecimals, sizeDecimals } = form;
    const { beginnings, ends } = (this.#words ??= asText(words));
    const beginning = beginnings[columns.labels[at] ?? 0] ?? NOTHING;
    const end = ends[columns.tracks[at] ?? 0] ?? NOTHING;
    this.#makeRoom(beginning.length + end.length + MOST_BYTES);
    const text = this.#text;
    const width = columns.c[at] ?? 0;
    const height = columns.d[at] ?? 0;
    let to = this.#to;
    if (follows) {
      text[to] = COMMA;
      to += 1;
    }
    to = putBytes(text, to, beginning);
    to = putFraction(text, to, columns.scores[at] ?? 0, scoreDecimals);
    to = putBytes(text, to, BOX);
    to = putFraction(text, to, centreOf(columns.a[at] ?? 0, width), CENTRE_DECIMALS);
    to = putBytes(text, to, CY);
    to = putFraction(text, to, centreOf(columns.b[at] ?? 0, height), CENTRE_DECIMALS);
    to = putBytes(text, to, WIDTH);
    to = putFraction(text, to, width, sizeDecimals);
    to = putBytes(text, to, HEIGHT);
    to = putFraction(text, to, height, sizeDecimals);
    this.#to = putBytes(text, to, end);
  }

  /** Makes room for this many bytes; copies the current array into a new buffer. */
  #makeRoom(bytes: number): void {
    if (this.#to + bytes <= this.#text.length) return;
    const begun = this.#text.subarray(this.#from, this.#to);
    const usual = Math.min(MOST_ROOM, this.#parts.columns.scores.length * USUAL_OBJECT);
    this.#text = Buffer.allocUnsafe(Math.max(usual, 2 * (begun.length + bytes)));
    this.#text.set(begun);
    this.#from = 0;
    this.#to = begun.length;
  }
}

const asText = ({ labels, tracks }: Words) => ({
  beginnings: labels.map((label) => Buffer.from(`{"label":${JSON.stringify(label)},"score":`)),
  ends: tracks.map((track) => Buffer.from(`},"track_id":${JSON.stringify(track)}}`)),
});
