import { setImmediate } from 'node:timers/promises';
import type { Knex } from 'knex';
import { coverageOfHours, hoursBetween, totalsBetween } from '../../db/timeline-hours.ts';
import type { Span } from '../../domain/fold/coverage.ts';
import { decodeMinutes, secondsOf, summarizeTotals } from '../../domain/fold/hour-codec.ts';
import type { HourSeconds, PackedHour } from '../../domain/fold/hour-codec.ts';
import { hourOf } from '../../domain/fold/minutes.ts';
import type { Minute } from '../../domain/fold/minutes.ts';
import type { BinRange, LabelSummary } from '../../domain/fold/summary.ts';
import type { FoldView } from './read-fold.ts';

/** A stored hour; with its minutes if requested. */
interface OpenedHour extends HourSeconds {
  hourMs: number;
  labels: Map<string, LabelSummary>;
  minutes: ReadonlyMap<number, Minute> | undefined;
}

interface HoursWanted {
  taskId: string;
  view: Pick<FoldView, 'day' | 'pace'>;
  span: Span;
  withMinutes: boolean;
  /** Bins in which objects count. */
  bins: BinRange;
  signal?: AbortSignal;
}

/** Number of hours that are decoded without yielding the processor. */
const HOURS_AT_ONCE = 100;

/** Stored hours of a period in order, and the hour before: its last frames cover seconds after it. */
export async function readHours(
  db: Knex,
  { taskId, view, span, withMinutes, bins, signal }: HoursWanted,
): Promise<OpenedHour[]> {
  const task = { day: view.day, taskId };
  const fromMs = hourOf(span.fromMs - (view.pace.coveredSeconds - 1) * 1000);
  const between = { fromMs, toMs: span.toMs };
  const rows = await (withMinutes ? hoursBetween(db, task, between) : totalsBetween(db, task, between));
  const opened: OpenedHour[] = [];
  const incomplete = new Map<number, OpenedHour>();
  for (const [index, row] of rows.entries()) {
    // Three months are 2,160 hours; other requests run in between.
    if (index % HOURS_AT_ONCE === HOURS_AT_ONCE - 1) {
      await setImmediate();
      signal?.throwIfAborted();
    }
    const { hour, isComplete } = open(row, bins);
    opened.push(hour);
    if (!isComplete) incomplete.set(hour.hourMs, hour);
  }
  for (const { hourMs, coverage } of await coverageOfHours(db, task, [...incomplete.keys()])) {
    const hour = incomplete.get(hourMs);
    if (hour) Object.assign(hour, secondsOf(decodeMinutes({ hourMs, coverage, minutes: null })));
  }
  return opened;
}

/** Hours of earlier releases have no seconds for the entire hour. */
function open(
  row: Pick<PackedHour, 'hourMs' | 'totals'> | PackedHour,
  bins: BinRange,
): { hour: OpenedHour; isComplete: boolean } {
  const { hourMs } = row;
  const minutes = 'minutes' in row ? decodeMinutes(row) : undefined;
  const { labels, seconds } = summarizeTotals(row, bins);
  const known = seconds ?? (minutes && secondsOf(minutes));
  return { hour: { hourMs, labels, minutes, ...(known ?? NONE) }, isComplete: known !== undefined };
}

const NONE: HourSeconds = { frames: 0, runs: [] };

/** Runs of seconds with frames of several hours, in order. */
export function* runsOf(hours: readonly OpenedHour[]): Generator<Span, void> {
  for (const { runs } of hours) yield* runs;
}
