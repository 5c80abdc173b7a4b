import { ByteReader, ByteWriter, SegmentDamagedError } from '../segments/bytes.ts';
import { pack, unpack } from '../segments/pack.ts';
import { BINS, COUNTS, HOUR_MS, MINUTE_MS } from './minutes.ts';
import type { LabelCounts, Minute } from './minutes.ts';
import { emptyState } from './state.ts';
import type { FoldState } from './state.ts';
import type { Box, Sighting, TrackFacts } from './tracks.ts';

const MILLION = 1_000_000;
const WHOLE = 0;
const EXACT = 1;

/** The state as bytes, without the tracks that have ended: those go to rows. */
export function encodeState(state: FoldState): Buffer {
  const out = new ByteWriter();
  out.byte(state.newestMs === undefined ? 0 : 1);
  if (state.newestMs !== undefined) {
    out.signed(state.newestMs);
    out.signed(state.oldestMs ?? state.newestMs);
  }
  out.unsigned(state.attempts.size);
  for (const [attempt, firstMs] of state.attempts) {
    out.unsigned(attempt);
    out.signed(firstMs);
  }
  out.unsigned(state.open.size);
  for (const track of state.open.values()) {
    putText(out, track.trackId);
    putText(out, track.label);
    out.unsigned(track.frames);
    out.unsigned(track.changed);
    putFacts(out, track);
  }
  out.unsigned(state.minutes.size);
  for (const [start, minute] of state.minutes) {
    out.signed(start / MINUTE_MS);
    putSeconds(out, minute);
    putLabels(out, minute.labels);
  }
  return pack(out.written(), 'fast');
}

/** @throws SegmentDamagedError for anything that `encodeState` did not write. */
export function decodeState(bytes: Buffer): FoldState {
  const reader = new ByteReader(unpack(bytes));
  const state = emptyState();
  if (reader.byte() === 1) {
    state.newestMs = reader.signed();
    state.oldestMs = reader.signed();
  }
  for (let left = reader.unsigned(); left > 0; left -= 1) state.attempts.set(reader.unsigned(), reader.signed());
  for (let left = reader.unsigned(); left > 0; left -= 1) {
    const trackId = takeText(reader);
    const label = takeText(reader);
    const frames = reader.unsigned();
    const changed = reader.unsigned();
    state.open.set(trackId, { trackId, label, frames, changed, ...takeFacts(reader) });
  }
  for (let left = reader.unsigned(); left > 0; left -= 1) {
    const start = reader.signed() * MINUTE_MS;
    state.minutes.set(start, { ...takeSeconds(reader), labels: takeLabels(reader) });
  }
  return state;
}

type Facts = Pick<TrackFacts, 'scoreSum' | 'first' | 'last' | 'best'>;

/** What the columns of a stored track do not say. */
export function encodeFacts(track: Facts): Buffer {
  const out = new ByteWriter();
  putFacts(out, track);
  return Buffer.from(out.written());
}

/** @throws SegmentDamagedError for anything that `encodeFacts` did not write. */
export const decodeFacts = (bytes: Buffer): Facts => takeFacts(new ByteReader(bytes));

/** Facts about one hour as the columns of its row. */
export interface PackedHour {
  hourMs: number;
  /** Frames and seconds of its minutes. */
  coverage: Buffer;
  /** Numbers of its labels. */
  totals: Buffer;
  /** The same of each minute. */
  minutes: Buffer;
}

/** The minutes of one hour, by their start. */
export function encodeHour(hourMs: number, minutes: ReadonlyMap<number, Minute>, totals: LabelTotals): PackedHour {
  const inOrder = [...minutes].sort(([a], [b]) => a - b);
  const coverage = new ByteWriter();
  const labels = new ByteWriter();
  coverage.unsigned(inOrder.length);
  labels.unsigned(inOrder.length);
  for (const [start, minute] of inOrder) {
    coverage.byte((start - hourMs) / MINUTE_MS);
    putSeconds(coverage, minute);
    labels.byte((start - hourMs) / MINUTE_MS);
    putLabels(labels, minute.labels);
  }
  const all = new ByteWriter();
  putLabels(all, totals);
  return {
    hourMs,
    coverage: pack(coverage.written(), 'small'),
    totals: pack(all.written(), 'small'),
    minutes: pack(labels.written(), 'small'),
  };
}

export type LabelTotals = Map<string, LabelCounts>;

/** Of minutes that are read without their labels; nothing is added to it. */
const NO_LABELS: LabelTotals = new Map();

/** The minutes of a stored hour; without `minutes` they have no labels. @throws SegmentDamagedError */
export function decodeMinutes({
  hourMs,
  coverage,
  minutes,
}: Omit<PackedHour, 'totals' | 'minutes'> & { minutes: Buffer | null }): Map<number, Minute> {
  const reader = new ByteReader(unpack(coverage));
  const decoded = new Map<number, Minute>();
  for (let left = reader.unsigned(); left > 0; left -= 1)
    decoded.set(startOf(hourMs, reader), {
      ...takeSeconds(reader),
      labels: minutes === null ? NO_LABELS : new Map<string, LabelCounts>(),
    });
  if (minutes === null) return decoded;
  const labels = new ByteReader(unpack(minutes));
  for (let left = labels.unsigned(); left > 0; left -= 1) {
    const minute = decoded.get(startOf(hourMs, labels));
    if (!minute) throw new SegmentDamagedError('a minute has labels and no seconds');
    minute.labels = takeLabels(labels);
  }
  return decoded;
}

export const decodeTotals = (totals: Buffer): LabelTotals => takeLabels(new ByteReader(unpack(totals)));

function startOf(hourMs: number, reader: ByteReader): number {
  const minute = reader.byte();
  if (minute >= HOUR_MS / MINUTE_MS) throw new SegmentDamagedError('an hour has no such minute');
  return hourMs + minute * MINUTE_MS;
}

function putFacts(out: ByteWriter, { scoreSum, first, last, best }: Facts): void {
  out.unsigned(scoreSum);
  for (const sighting of [first, last, best]) {
    out.unsigned(sighting.seq);
    out.signed(sighting.timeMs);
    out.unsigned(sighting.score);
    putBox(out, sighting);
  }
}

function takeFacts(reader: ByteReader): Facts {
  const scoreSum = reader.unsigned();
  const take = (): Sighting => ({
    seq: reader.unsigned(),
    timeMs: reader.signed(),
    score: reader.unsigned(),
    ...takeBox(reader),
  });
  return { scoreSum, first: take(), last: take(), best: take() };
}

/** Numbers of six decimals as whole millionths; any others as they are. */
function putBox(out: ByteWriter, { cx, cy, width, height }: Box): void {
  const numbers = [cx, cy, width, height];
  const whole = numbers.map((value) => Math.round(value * MILLION));
  const isWhole = whole.every((value, at) => value >= 0 && value <= MILLION && Object.is(value / MILLION, numbers[at]));
  out.byte(isWhole ? WHOLE : EXACT);
  if (isWhole) for (const value of whole) out.unsigned(value);
  else out.block(Buffer.from(Float64Array.from(numbers).buffer));
}

function takeBox(reader: ByteReader): Box {
  const isWhole = reader.byte() === WHOLE;
  const take = () => reader.unsigned() / MILLION;
  if (isWhole) return { cx: take(), cy: take(), width: take(), height: take() };
  const block = reader.block();
  if (block.length !== 32) throw new SegmentDamagedError('a box has another length');
  const at = (index: number) => block.readDoubleLE(8 * index);
  return { cx: at(0), cy: at(1), width: at(2), height: at(3) };
}

function putSeconds(out: ByteWriter, { frames, low, high }: Minute): void {
  out.unsigned(frames);
  out.unsigned(low);
  out.unsigned(high);
}

const takeSeconds = (reader: ByteReader) => ({
  frames: reader.unsigned(),
  low: reader.unsigned(),
  high: reader.unsigned(),
});

/** Of each kind of number the last ones that are 0 are left out. */
function putLabels(out: ByteWriter, labels: LabelTotals): void {
  out.unsigned(labels.size);
  for (const [label, counts] of labels) {
    putText(out, label);
    for (let kind = 0; kind < COUNTS; kind += BINS) {
      let length = BINS;
      while (length > 0 && counts[kind + length - 1] === 0) length -= 1;
      out.byte(length);
      for (let bin = 0; bin < length; bin += 1) out.signed(counts[kind + bin] ?? 0);
    }
  }
}

function takeLabels(reader: ByteReader): LabelTotals {
  const labels: LabelTotals = new Map();
  for (let left = reader.unsigned(); left > 0; left -= 1) {
    const label = takeText(reader);
    const counts = new Int32Array(COUNTS);
    for (let kind = 0; kind < COUNTS; kind += BINS) {
      const length = reader.byte();
      if (length > BINS) throw new SegmentDamagedError('a label has too many numbers');
      for (let bin = 0; bin < length; bin += 1) counts[kind + bin] = reader.signed();
    }
    labels.set(label, counts);
  }
  return labels;
}

/** As JSON, so that every string comes back as it was. */
const putText = (out: ByteWriter, text: string) => out.block(Buffer.from(JSON.stringify(text)));

function takeText(reader: ByteReader): string {
  try {
    const text: unknown = JSON.parse(reader.block().toString());
    if (typeof text === 'string') return text;
  } catch (error) {
    throw new SegmentDamagedError('a text cannot be read', { cause: error });
  }
  throw new SegmentDamagedError('a text is none');
}
