import { SegmentDamagedError } from '@vision/contracts/segments/bytes';
import type { ByteReader, ByteWriter } from '@vision/contracts/segments/bytes';
import { BINS, COUNTS, emptyCounts } from './minutes.ts';
import type { LabelCounts, Minute } from './minutes.ts';
import { summaryOf } from './summary.ts';
import type { BinRange, LabelSummary } from './summary.ts';

/** Counts of each label. */
export type LabelTotals = Map<string, LabelCounts>;

export function putSeconds(out: ByteWriter, { frames, low, high }: Omit<Minute, 'labels'>): void {
  out.unsigned(frames);
  out.unsigned(low);
  out.unsigned(high);
}

export const takeSeconds = (reader: ByteReader) => ({
  frames: reader.unsigned(),
  low: reader.unsigned(),
  high: reader.unsigned(),
});

/** Trailing zeros of each kind of count are omitted. */
export function putLabels(out: ByteWriter, labels: LabelTotals): void {
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

export const takeLabels = (reader: ByteReader): LabelTotals =>
  takeEach(reader, () => {
    const counts = emptyCounts();
    takeCounts(reader, counts);
    return counts;
  });

/** Summary of each label; the counts are not retained. */
export const takeSummaries = (reader: ByteReader, bins: BinRange): Map<string, LabelSummary> =>
  takeEach(reader, () => {
    passing.fill(0);
    takeCounts(reader, passing);
    return summaryOf(passing, bins);
  });

/** Counts that are read, summed up and reused for the next label. */
const passing: LabelCounts = new Int32Array(COUNTS);

function takeEach<T>(reader: ByteReader, take: () => T): Map<string, T> {
  const labels = new Map<string, T>();
  for (let left = reader.unsigned(); left > 0; left -= 1) labels.set(takeText(reader), take());
  return labels;
}

/** Reads the counts of a label over zeros. */
function takeCounts(reader: ByteReader, counts: LabelCounts): void {
  for (let kind = 0; kind < COUNTS; kind += BINS) {
    const length = reader.byte();
    if (length > BINS) throw new SegmentDamagedError('a label has too many numbers');
    for (let bin = 0; bin < length; bin += 1) counts[kind + bin] = reader.signed();
  }
}

/** As JSON, so that every string is restored unchanged. */
export const putText = (out: ByteWriter, text: string) => out.block(Buffer.from(JSON.stringify(text)));

export function takeText(reader: ByteReader): string {
  try {
    const text: unknown = JSON.parse(reader.block().toString());
    if (typeof text === 'string') return text;
  } catch (error) {
    throw new SegmentDamagedError('a text cannot be read', { cause: error });
  }
  throw new SegmentDamagedError('a text is none');
}
