import { ByteReader, ByteWriter, SegmentDamagedError } from '@vision/contracts/segments/bytes';
import { pack, unpack } from '@vision/contracts/segments/pack';
import { putLabels, putSeconds, takeLabels, takeSeconds, takeSummaries } from './count-codec.ts';
import type { LabelTotals } from './count-codec.ts';
import { spansWithFrames } from './coverage.ts';
import type { Span } from './coverage.ts';
import { HOUR_MS, MINUTE_MS } from './minutes.ts';
import type { LabelCounts, Minute } from './minutes.ts';
import type { BinRange, LabelSummary } from './summary.ts';

const SECOND_MS = 1000;

/** Facts about one hour in the columns of its row. */
export interface PackedHour {
  hourMs: number;
  /** Frames and seconds of its minutes. */
  coverage: Buffer;
  /** Counts of its labels, and its frames and seconds for the entire hour. */
  totals: Buffer;
  /** Counts of the labels of each minute. */
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
  return {
    hourMs,
    coverage: pack(coverage.written(), 'small'),
    totals: encodeTotals(hourMs, minutes, totals),
    minutes: pack(labels.written(), 'small'),
  };
}

/** A release that knows labels only reads them and skips the rest. */
function encodeTotals(hourMs: number, minutes: ReadonlyMap<number, Minute>, labels: LabelTotals): Buffer {
  const out = new ByteWriter();
  putLabels(out, labels);
  const { frames, runs } = secondsOf(minutes);
  out.unsigned(frames);
  const spans = [...joined(runs)];
  out.unsigned(spans.length);
  let reachedMs = hourMs;
  for (const { fromMs, toMs } of spans) {
    out.unsigned((fromMs - reachedMs) / SECOND_MS);
    out.unsigned((toMs - fromMs) / SECOND_MS);
    reachedMs = toMs;
  }
  return pack(out.written(), 'open');
}

function* joined(spans: Iterable<Span>): Generator<Span, void> {
  let open: Span | undefined;
  for (const { fromMs, toMs } of spans) {
    if (open?.toMs === fromMs) open.toMs = toMs;
    else {
      if (open) yield open;
      open = { fromMs, toMs };
    }
  }
  if (open) yield open;
}

/** For minutes that are read without their labels; never changed. */
const NO_LABELS: LabelTotals = new Map();

/** The minutes of a stored hour; without `minutes` they have no labels. @throws SegmentDamagedError */
export function decodeMinutes({
  hourMs,
  coverage,
  minutes,
}: Pick<PackedHour, 'hourMs' | 'coverage'> & { minutes: Buffer | null }): Map<number, Minute> {
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

/** Facts about an entire hour. */
interface HourTotals<Labels> {
  labels: Labels;
  /** Undefined for an hour that an earlier release stored: they are added up from its minutes. */
  seconds: HourSeconds | undefined;
}

export interface HourSeconds {
  frames: number;
  /** Runs of seconds that have a frame, in order; read once. */
  runs: Iterable<Span>;
}

/** @throws SegmentDamagedError for bytes that are not from `encodeHour`. */
export const decodeTotals = (packed: PackedTotals): HourTotals<LabelTotals> => totalsOf(packed, takeLabels);

/** The same with a summary of each label. */
export const summarizeTotals = (packed: PackedTotals, bins: BinRange): HourTotals<Map<string, LabelSummary>> =>
  totalsOf(packed, (reader) => takeSummaries(reader, bins));

type PackedTotals = Pick<PackedHour, 'hourMs' | 'totals'>;

function totalsOf<Labels>(
  { hourMs, totals }: PackedTotals,
  takeFrom: (reader: ByteReader) => Labels,
): HourTotals<Labels> {
  const reader = new ByteReader(unpack(totals));
  const labels = takeFrom(reader);
  return {
    labels,
    seconds: reader.left() === 0 ? undefined : { frames: reader.unsigned(), runs: takeRuns(hourMs, reader) },
  };
}

function* takeRuns(hourMs: number, reader: ByteReader): Generator<Span, void> {
  let reachedMs = hourMs;
  for (let left = reader.unsigned(); left > 0; left -= 1) {
    const fromMs = reachedMs + reader.unsigned() * SECOND_MS;
    const toMs = fromMs + reader.unsigned() * SECOND_MS;
    if (toMs > hourMs + HOUR_MS) throw new SegmentDamagedError('an hour has no such second');
    yield { fromMs, toMs };
    reachedMs = toMs;
  }
}

/** The same for an hour whose row has no seconds. */
export function secondsOf(minutes: ReadonlyMap<number, Minute>): HourSeconds {
  let frames = 0;
  for (const minute of minutes.values()) frames += minute.frames;
  return { frames, runs: spansWithFrames(minutes) };
}

function startOf(hourMs: number, reader: ByteReader): number {
  const minute = reader.byte();
  if (minute >= HOUR_MS / MINUTE_MS) throw new SegmentDamagedError('an hour has no such minute');
  return hourMs + minute * MINUTE_MS;
}
