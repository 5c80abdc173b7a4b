import type { TrackedObject } from '@vision/shared/contracts/detection';
import { ByteWriter } from './bytes.ts';
import { Dictionary, NumberColumn, unseenTrack } from './columns.ts';
import type { TrackState } from './columns.ts';
import { fixedPoints } from './fixed-point.ts';
import type { Integers } from './fixed-point.ts';
import { pack } from './pack.ts';
import type { Effort } from './pack.ts';

/**
 * The objects of a frame, highest score first; or the text that a row has of them (`stored-objects.ts`), when it is not
 * what this release would write for them.
 */
export type FrameObjects = readonly TrackedObject[] | string;

/** Everything of a segment beside the numbers of its objects, which stand in columns. */
export interface Words {
  labels: string[];
  tracks: string[];
  /** Frames whose objects are kept as their text, by their index. */
  texts: [index: number, text: string][];
}

/**
 * The objects of the frames of one segment as bytes. Numbers stand in columns and tell what changed since the last
 * object of the same track; objects that do not fit that form exactly are kept as text, a frame at a time.
 */
export function encodeBody(frames: readonly FrameObjects[], effort: Effort): Buffer {
  const form = formOf(frames);
  const writer = new BodyWriter();
  frames.forEach((objects, index) => writer.add(objects, form.integers[index], index));
  return pack(writer.written(form.number), effort);
}

interface Form {
  number: number;
  /** Of each frame, undefined for those that are kept as text. */
  integers: (Integers[] | undefined)[];
}

/** The first form that all frames fit; else the last, with those kept as text that do not fit even that one. */
function formOf(frames: readonly FrameObjects[]): Form {
  let form: Form = { number: 0, integers: [] };
  for (const [number, { toIntegers }] of fixedPoints.entries()) {
    form = { number, integers: frames.map((objects) => integersOf(objects, toIntegers)) };
    if (form.integers.every((integers, index) => integers !== undefined || typeof frames[index] === 'string')) break;
  }
  return form;
}

function integersOf(
  objects: FrameObjects,
  toIntegers: (object: TrackedObject) => Integers | undefined,
): Integers[] | undefined {
  if (typeof objects === 'string') return undefined;
  const all: Integers[] = [];
  for (const object of objects) {
    const integers = toIntegers(object);
    if (!integers) return undefined;
    all.push(integers);
  }
  return all;
}

class BodyWriter {
  readonly #labels = new Dictionary();
  readonly #tracks = new Dictionary();
  readonly #states: TrackState[] = [];
  readonly #texts: Words['texts'] = [];
  readonly #places = new ByteWriter();
  readonly #newTracks = new ByteWriter();
  readonly #labelCodes = new ByteWriter();
  readonly #numbers = Array.from({ length: 5 }, () => new NumberColumn());

  add(objects: FrameObjects, integers: Integers[] | undefined, frame: number): void {
    if (typeof objects === 'string' || integers === undefined) {
      this.#texts.push([frame, typeof objects === 'string' ? objects : textOf(objects)]);
      return;
    }
    let scoreBefore = 0;
    objects.forEach((object, place) => {
      const numbers = integers[place];
      if (!numbers) throw new Error('an object has no numbers');
      this.#addObject(object, numbers, { frame, place, scoreBefore });
      scoreBefore = numbers[0];
    });
  }

  #addObject(
    { label, track_id: trackId }: TrackedObject,
    [score, a, b, c, d]: Integers,
    { frame, place, scoreBefore }: { frame: number; place: number; scoreBefore: number },
  ): void {
    const track = this.#tracks.numberOf(trackId);
    const state = (this.#states[track] ??= unseenTrack());
    if (state.frame >= 0 && state.frame === frame - 1) this.#places.unsigned(1 + fold(state.place - place));
    else {
      this.#places.byte(0);
      this.#newTracks.unsigned(track);
    }
    const labelNumber = this.#labels.numberOf(label);
    this.#labelCodes.unsigned(state.label === labelNumber ? 0 : 1 + labelNumber);
    const [scores, as, bs, cs, ds] = this.#numbers;
    scores?.add(score - scoreBefore);
    as?.add(a - state.a);
    bs?.add(b - state.b);
    cs?.add(c - state.c);
    ds?.add(d - state.d);
    Object.assign(state, { label: labelNumber, frame, place, a, b, c, d });
  }

  written(form: number): Buffer {
    const out = new ByteWriter();
    out.byte(form);
    const words: Words = { labels: this.#labels.texts, tracks: this.#tracks.texts, texts: this.#texts };
    out.block(Buffer.from(JSON.stringify(words)));
    for (const column of [this.#places, this.#newTracks, this.#labelCodes]) out.block(column.written());
    for (const column of this.#numbers) column.writeTo(out);
    return out.written();
  }
}

/** A whole number of any sign as one that is not negative. */
const fold = (value: number) => (value < 0 ? -2 * value - 1 : 2 * value);

const textOf = (objects: readonly TrackedObject[]) => objects.map((object) => JSON.stringify(object)).join('\n');
