/** One measured number. Ratios are taken within one run, so that the speed of the machine cancels out. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What it should reach. */
  target?: Bound;
  /** What it may not fall short of, where the target is not reached: a guard against getting worse, no aim. */
  floor?: Bound;
}

export type Bound = { atLeast: number } | { atMost: number };

export const atLeast = (value: number): Bound => ({ atLeast: value });
export const atMost = (value: number): Bound => ({ atMost: value });

export interface Bench {
  name: string;
  run: () => Promise<{ figures: Figure[] }>;
}

/** The value below which this share of the samples lies; `share` in [0, 1]. */
export function quantile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const median = (samples: number[]) => quantile(samples, 0.5);

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}
