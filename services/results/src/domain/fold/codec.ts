import { ByteReader, ByteWriter, SegmentDamagedError } from '@vision/contracts/segments/bytes';
import { pack, unpack } from '@vision/contracts/segments/pack';
import { putLabels, putSeconds, putText, takeLabels, takeSeconds, takeText } from './count-codec.ts';
import { MINUTE_MS } from './minutes.ts';
import { emptyState } from './state.ts';
import type { FoldState } from './state.ts';
import type { Box, Sighting, TrackFacts } from './tracks.ts';

const MILLION = 1_000_000;
const WHOLE = 0;
const EXACT = 1;

/** The state as bytes, without the tracks that have ended, which are stored as rows. */
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

/** @throws SegmentDamagedError for bytes that are not from `encodeState`. */
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

/** Facts of a track that its columns do not hold. */
export function encodeFacts(track: Facts): Buffer {
  const out = new ByteWriter();
  putFacts(out, track);
  return Buffer.from(out.written());
}

/** @throws SegmentDamagedError for bytes that are not from `encodeFacts`. */
export const decodeFacts = (bytes: Buffer): Facts => takeFacts(new ByteReader(bytes));

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
