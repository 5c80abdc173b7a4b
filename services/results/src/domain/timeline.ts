import { coverageOf, coveredSpans } from './fold/coverage.ts';
import type { Coverage, Span } from './fold/coverage.ts';
import type { Minute } from './fold/minutes.ts';
import { addSummary, summaryOf } from './fold/summary.ts';
import type { BinRange, LabelSummary } from './fold/summary.ts';
import type { TimelineRange } from './timeline-query.ts';

/** Counts of one bucket of time. */
export interface Bucket {
  fromMs: number;
  coveredMs: number;
  frames: number;
  labels: ({ label: string } & LabelSummary)[];
}

/** Adds up the frames and labels of spans of time by bucket. */
export class Buckets {
  /** Bins in which objects count. */
  readonly bins: BinRange;
  readonly #range: TimelineRange;
  readonly #found = new Map<number, { coveredMs: number; frames: number; labels: Map<string, LabelSummary> }>();

  constructor(range: TimelineRange, bins: BinRange) {
    this.#range = range;
    this.bins = bins;
  }

  /** Adds the counts of a period that begins here, within one bucket. */
  add(fromMs: number, { frames, labels }: Pick<Minute, 'frames' | 'labels'>): void {
    const into = this.#within(fromMs);
    if (!into) return;
    into.frames += frames;
    for (const [label, counts] of labels) addTo(into.labels, label, summaryOf(counts, this.bins));
  }

  /** The same for summaries in these bins; the bucket takes ownership of them. */
  addSummaries(fromMs: number, { frames, labels }: { frames: number; labels: Map<string, LabelSummary> }): void {
    const into = this.#within(fromMs);
    if (!into) return;
    into.frames += frames;
    if (into.labels.size === 0) into.labels = labels;
    else for (const [label, summary] of labels) addTo(into.labels, label, summary);
  }

  /** Adds a covered period of the range. */
  cover({ fromMs, toMs }: Span): void {
    const { bucketMs } = this.#range;
    for (let at = fromMs; at < toMs;) {
      const end = Math.min(toMs, (Math.floor(at / bucketMs) + 1) * bucketMs);
      this.#at(at).coveredMs += end - at;
      at = end;
    }
  }

  /** Buckets with coverage or objects, in order; labels without any count are omitted. */
  summaries(): Bucket[] {
    return [...this.#found]
      .sort(([a], [b]) => a - b)
      .map(([fromMs, { coveredMs, frames, labels }]) => ({
        fromMs,
        coveredMs,
        frames,
        labels: [...labels]
          .map(([label, summary]) => ({ label, ...summary }))
          .filter(({ tracksBegun, objectFrames }) => tracksBegun !== 0 || objectFrames !== 0)
          .sort((a, b) => (a.label < b.label ? -1 : 1)),
      }))
      .filter(({ coveredMs, frames, labels }) => coveredMs > 0 || frames > 0 || labels.length > 0);
  }

  #within(ms: number) {
    return ms < this.#range.fromMs || ms >= this.#range.toMs ? undefined : this.#at(ms);
  }

  #at(ms: number) {
    const fromMs = Math.floor(ms / this.#range.bucketMs) * this.#range.bucketMs;
    let found = this.#found.get(fromMs);
    if (!found) this.#found.set(fromMs, (found = { coveredMs: 0, frames: 0, labels: new Map() }));
    return found;
  }
}

function addTo(labels: Map<string, LabelSummary>, label: string, summary: LabelSummary): void {
  const known = labels.get(label);
  if (known) addSummary(known, summary);
  else labels.set(label, summary);
}

/** The part of the life of a task within a range; empty when there is none. */
export function lifeWithin(life: Span, range: Span): Span {
  const fromMs = Math.min(Math.max(life.fromMs, range.fromMs), range.toMs);
  return { fromMs, toMs: Math.max(fromMs, Math.min(life.toMs, range.toMs)) };
}

/** Coverage of a period by the runs of seconds that have frames; `each` is called with every covered period. */
export const coverageWithin = (
  span: Span,
  runs: Iterable<Span>,
  { seconds, each }: { seconds: number; each?: (one: Span) => void },
): Coverage => coverageOf(span, coveredSpans(runs, { seconds, span }), each);
