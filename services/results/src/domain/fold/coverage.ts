import { MINUTE_MS } from './minutes.ts';
import type { Minute } from './minutes.ts';

/** A period, the end exclusive, in milliseconds. */
export interface Span {
  fromMs: number;
  toMs: number;
}

const SECOND_MS = 1000;
const ALL_30 = 2 ** 30 - 1;

/**
 * The periods of whole seconds that frames cover within `span`, in order. The input is the runs of seconds that have a
 * frame, in the order of their beginning. A frame covers its own second and those after it, `seconds` in all.
 */
export function* coveredSpans(
  runs: Iterable<Span>,
  { seconds, span }: { seconds: number; span: Span },
): Generator<Span, void> {
  let open: Span | undefined;
  for (const { fromMs, toMs: lastMs } of runs) {
    const toMs = lastMs + (seconds - 1) * SECOND_MS;
    if (open && fromMs <= open.toMs) {
      if (toMs > open.toMs) open.toMs = toMs;
      continue;
    }
    const done = open && clip(open, span);
    if (done) yield done;
    open = { fromMs, toMs };
  }
  const last = open && clip(open, span);
  if (last) yield last;
}

/** Merges spans of both inputs, each in the order of their beginning, into that order. */
export function* inOrder(some: Iterable<Span>, others: Iterable<Span>): Generator<Span, void> {
  const rest = others[Symbol.iterator]();
  let next = rest.next();
  for (const one of some) {
    for (; next.done !== true && next.value.fromMs < one.fromMs; next = rest.next()) yield next.value;
    yield one;
  }
  for (; next.done !== true; next = rest.next()) yield next.value;
}

/** Runs of seconds that have a frame, in order; runs of neighbouring minutes are not joined. */
export function* spansWithFrames(minutes: ReadonlyMap<number, Pick<Minute, 'low' | 'high'>>): Generator<Span, void> {
  for (const start of [...minutes.keys()].sort((a, b) => a - b)) {
    const { low, high } = minutes.get(start) ?? { low: 0, high: 0 };
    if (low === ALL_30 && high === ALL_30) {
      yield { fromMs: start, toMs: start + MINUTE_MS };
      continue;
    }
    let first = -1;
    for (let second = 0; second <= 60; second += 1) {
      const has = second < 60 && ((second < 30 ? low >> second : high >> (second - 30)) & 1) === 1;
      if (has && first < 0) first = second;
      if (has || first < 0) continue;
      yield { fromMs: start + first * SECOND_MS, toMs: start + second * SECOND_MS };
      first = -1;
    }
  }
}

function clip({ fromMs, toMs }: Span, to: Span): Span | undefined {
  const clipped = { fromMs: Math.max(fromMs, to.fromMs), toMs: Math.min(toMs, to.toMs) };
  return clipped.fromMs < clipped.toMs ? clipped : undefined;
}

/** Coverage of a period. */
export interface Coverage extends Span {
  coveredMs: number;
  /** Periods without coverage, including those that are not listed. */
  gapCount: number;
  /** The longest of them, in order. */
  gaps: Span[];
}

/** Maximum number of listed gaps; a few times as many are collected before they are sorted. */
export const MOST_GAPS = 1_000;

/** Adds up covered periods of `span`, given in order, and calls `each` with every one of them. */
export function coverageOf(span: Span, covered: Iterable<Span>, each?: (one: Span) => void): Coverage {
  let gaps: Span[] = [];
  let [coveredMs, gapCount, reachedMs] = [0, 0, span.fromMs];
  const addGap = (toMs: number) => {
    if (toMs <= reachedMs) return;
    gapCount += 1;
    gaps.push({ fromMs: reachedMs, toMs });
    if (gaps.length >= 4 * MOST_GAPS) gaps = longest(gaps);
  };
  for (const one of covered) {
    addGap(one.fromMs);
    coveredMs += one.toMs - one.fromMs;
    reachedMs = one.toMs;
    each?.(one);
  }
  addGap(span.toMs);
  const listed = longest(gaps).sort((a, b) => a.fromMs - b.fromMs);
  return { ...span, coveredMs, gapCount, gaps: listed };
}

/** Among gaps of the same length, the first ones. */
const longest = (gaps: Span[]) =>
  gaps.sort((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs) || a.fromMs - b.fromMs).slice(0, MOST_GAPS);
