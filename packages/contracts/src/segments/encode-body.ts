import type { TrackedObject } from '../detection.ts';
import { ByteWriter } from './bytes.ts';
import { Dictionary, fold, NumberColumn, unseenTrack } from './columns.ts';
import type { TrackState } from './columns.ts';
import { fixedPoints, NUMBERS } from './fixed-point.ts';
import type { FixedPoint } from './fixed-point.ts';
import { pack } from './pack.ts';
import type { Effort } from './pack.ts';

/**
 * The objects of a frame; or the text that a row of results has of them, one JSON object a line, when it is not what
 * this release would write for them.
 */
export type FrameObjects = readonly TrackedObject[] | string;

/** Everything of a segment beside the numbers of its objects, which stand in columns. */
export interface Words {
  labels: string[];
  tracks: string[];
  /** Frames whose objects are kept as their text, by their index. */
  texts: [index: number, text: string][];
}

export interface EncodedBody {
  bytes: Buffer;
  /** Of the objects in columns, in no order. */
  labels: string[];
  /** The objects of frames that are kept as text. */
  texts: string[];
}

/**
 * The objects of the frames of one segment as bytes. Numbers stand in columns and tell what changed since the last
 * object of the same track; objects that do not fit that form exactly are kept as text, a frame at a time.
 */
export function encodeBody(frames: readonly FrameObjects[], effort: Effort): EncodedBody {
  const { content, labels, texts } = writeBody(frames, (words) => JSON.stringify(words));
  return { bytes: pack(content, effort), labels, texts: texts.map(([, text]) => text) };
}

/** What `encodeBody` packs, with its words as text of any form. */
export function writeBody(
  frames: readonly FrameObjects[],
  textOfWords: (words: Words) => string,
): Pick<Words, 'labels' | 'texts'> & { content: Buffer } {
  const form = formOf(frames);
  const writer = new BodyWriter(form.integers);
  frames.forEach((objects, frame) => {
    const start = form.starts[frame] ?? -1;
    if (typeof objects === 'string') writer.addText(objects, frame);
    else if (start < 0) writer.addText(textOf(objects), frame);
    else writer.addObjects(objects, start, frame);
  });
  const { labels, texts } = writer.words();
  return { content: writer.written(form.number, textOfWords), labels, texts };
}

interface Form {
  number: number;
  /** Those of all objects, `NUMBERS` for each. */
  integers: Int32Array;
  /** Where the numbers of each frame begin; -1 for those that are kept as text. */
  starts: number[];
}

/** The first form that all frames fit; else the last, with those kept as text that do not fit even that one. */
function formOf(frames: readonly FrameObjects[]): Form {
  let count = 0;
  for (const objects of frames) if (typeof objects !== 'string') count += objects.length;
  const integers = new Int32Array(count * NUMBERS);
  let form: Form = { number: 0, integers, starts: [] };
  for (const [number, { toIntegers }] of fixedPoints.entries()) {
    form = { number, integers, starts: startsIn(integers, frames, toIntegers) };
    if (form.starts.every((start, frame) => start >= 0 || typeof frames[frame] === 'string')) break;
  }
  return form;
}

function startsIn(
  integers: Int32Array,
  frames: readonly FrameObjects[],
  toIntegers: FixedPoint['toIntegers'],
): number[] {
  let next = 0;
  return frames.map((objects) => {
    if (typeof objects === 'string') return -1;
    const start = next;
    for (const object of objects) {
      if (!toIntegers(object, integers, next)) {
        next = start;
        return -1;
      }
      next += NUMBERS;
    }
    return start;
  });
}

class BodyWriter {
  readonly #integers: Int32Array;
  readonly #labels = new Dictionary();
  readonly #tracks = new Dictionary();
  readonly #states: TrackState[] = [];
  readonly #texts: Words['texts'] = [];
  readonly #places = new ByteWriter();
  readonly #newTracks = new ByteWriter();
  readonly #labelCodes = new ByteWriter();
  readonly #scores: NumberColumn;
  readonly #a: NumberColumn;
  readonly #b: NumberColumn;
  readonly #c: NumberColumn;
  readonly #d: NumberColumn;

  constructor(integers: Int32Array) {
    const count = integers.length / NUMBERS;
    this.#integers = integers;
    this.#scores = new NumberColumn(count);
    this.#a = new NumberColumn(count);
    this.#b = new NumberColumn(count);
    this.#c = new NumberColumn(count);
    this.#d = new NumberColumn(count);
  }

  addText(text: string, frame: number): void {
    this.#texts.push([frame, text]);
  }

  words(): Words {
    return { labels: this.#labels.texts, tracks: this.#tracks.texts, texts: this.#texts };
  }

  /** The numbers of the objects begin at `start`. */
  addObjects(objects: readonly TrackedObject[], start: number, frame: number): void {
    let scoreBefore = 0;
    for (let place = 0; place < objects.length; place += 1) {
      const object = objects[place];
      if (!object) continue;
      const state = this.#stateOf(object, frame, place);
      this.#addNumbers(state, start + place * NUMBERS, scoreBefore);
      scoreBefore = this.#integers[start + place * NUMBERS] ?? 0;
    }
  }

  /** Writes of which track and label an object is. */
  #stateOf({ label, track_id: trackId }: TrackedObject, frame: number, place: number): TrackState {
    const track = this.#tracks.numberOf(trackId);
    const state = (this.#states[track] ??= unseenTrack());
    if (state.frame >= 0 && state.frame === frame - 1) this.#places.unsigned(1 + fold(state.place - place));
    else {
      this.#places.byte(0);
      this.#newTracks.unsigned(track);
    }
    // Nearly always that of the last object of the track.
    const labelNumber = this.#labels.texts[state.label] === label ? state.label : this.#labels.numberOf(label);
    this.#labelCodes.unsigned(state.label === labelNumber ? 0 : 1 + labelNumber);
    state.label = labelNumber;
    state.frame = frame;
    state.place = place;
    return state;
  }

  #addNumbers(state: TrackState, at: number, scoreBefore: number): void {
    const integers = this.#integers;
    const a = integers[at + 1] ?? 0;
    const b = integers[at + 2] ?? 0;
    const c = integers[at + 3] ?? 0;
    const d = integers[at + 4] ?? 0;
    this.#scores.add((integers[at] ?? 0) - scoreBefore);
    this.#a.add(a - state.a);
    this.#b.add(b - state.b);
    this.#c.add(c - state.c);
    this.#d.add(d - state.d);
    state.a = a;
    state.b = b;
    state.c = c;
    state.d = d;
  }

  written(form: number, textOfWords: (words: Words) => string): Buffer {
    const out = new ByteWriter();
    out.byte(form);
    out.block(Buffer.from(textOfWords(this.words())));
    for (const column of [this.#places, this.#newTracks, this.#labelCodes]) out.block(column.written());
    for (const column of [this.#scores, this.#a, this.#b, this.#c, this.#d]) column.writeTo(out);
    return out.written();
  }
}

const textOf = (objects: readonly TrackedObject[]) => objects.map((object) => JSON.stringify(object)).join('\n');
