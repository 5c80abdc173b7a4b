import { expect, test } from '@jest/globals';
import { ByteReader, ByteWriter } from '@vision/contracts/segments/bytes';
import { pack, unpack } from '@vision/contracts/segments/pack';
import { putLabels, takeLabels } from './count-codec.ts';
import { decodeMinutes, decodeTotals, encodeHour, summarizeTotals } from './hour-codec.ts';
import { COUNTS, HOUR_MS, MINUTE_MS } from './minutes.ts';
import type { Minute } from './minutes.ts';
import { binsFrom, summaryOf } from './summary.ts';

const hourMs = -HOUR_MS;
const ALL_30 = 2 ** 30 - 1;
const minutesOf = (...minutes: [at: number, low: number, high: number][]) =>
  new Map(
    minutes.map(([at, low, high]): [number, Minute] => [
      hourMs + at * MINUTE_MS,
      { frames: 5, low, high, labels: new Map() },
    ]),
  );
const labels = new Map([['person', new Int32Array(COUNTS).fill(3)]]);

test('an hour has all its frames and runs of seconds', () => {
  const minutes = minutesOf([0, 0b110, 0], [1, ALL_30, ALL_30], [2, 1, 1 << 29], [3, 1, 0]);
  const { labels: found, seconds } = decodeTotals(encodeHour(hourMs, minutes, labels));
  expect([...found]).toEqual([...labels]);
  expect(seconds?.frames).toBe(20);
  expect([...(seconds?.runs ?? [])].map(({ fromMs, toMs }) => [fromMs - hourMs, toMs - hourMs])).toEqual([
    [1_000, 3_000],
    [60_000, 121_000],
    [179_000, 181_000],
  ]);
});

test('the sums of an hour are those of its counts, after any other label', () => {
  const numbers = new Map([
    ['person', Int32Array.from({ length: COUNTS }, (_, at) => at)],
    ['car', new Int32Array(COUNTS).fill(0).fill(2, 0, 3)],
  ]);
  const hour = encodeHour(hourMs, minutesOf([0, 0b110, 0]), numbers);
  for (const bins of [binsFrom(0, 0), binsFrom(300_000, 800_000)]) {
    const { labels: sums, seconds } = summarizeTotals(hour, bins);
    expect([...sums]).toEqual([...numbers].map(([label, counts]) => [label, summaryOf(counts, bins)]));
    expect(seconds?.frames).toBe(5);
  }
});

test('an hour of a few labels is not compressed', () => {
  const full = Array.from({ length: 60 }, (_, at): [number, number, number] => [at, ALL_30, ALL_30]);
  const { totals } = encodeHour(hourMs, minutesOf(...full), labels);
  // Format 1, plain.
  expect([...totals.subarray(0, 2)]).toEqual([1, 0]);
});

test('the last release reads the labels of an hour, and its own hours have no seconds', () => {
  const { totals, coverage } = encodeHour(hourMs, minutesOf([0, 1, 0]), labels);
  expect([...takeLabels(new ByteReader(unpack(totals)))]).toEqual([...labels]);
  const before = new ByteWriter();
  putLabels(before, labels);
  const old = { hourMs, totals: pack(before.written(), 'small'), coverage, minutes: null };
  expect(decodeTotals(old)).toEqual({ labels, seconds: undefined });
  expect(decodeMinutes(old).size).toBe(1);
});

test('rejects runs beyond the hour', () => {
  const out = new ByteWriter();
  putLabels(out, new Map());
  for (const value of [1, 1, 3_590, 11]) out.unsigned(value);
  const { seconds } = decodeTotals({ hourMs, totals: pack(out.written(), 'open') });
  expect(() => [...(seconds?.runs ?? [])]).toThrow('an hour has no such second');
});
