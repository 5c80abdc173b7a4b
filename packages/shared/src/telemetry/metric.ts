/** The values of a label: all of them, or in words where they come from. Nothing that a stranger writes. */
export type LabelValues = readonly string[] | string;
export type Labels = Readonly<Record<string, LabelValues>>;

/** One metric as it is declared: what the code makes its instrument from, and docs/metrics.md its line. */
export interface Metric<L extends Labels = Labels> {
  kind: 'counter' | 'gauge' | 'histogram';
  /** Lower case, words separated by dots and underscores. */
  name: string;
  /** As UCUM writes it: `s`, `By`; `{frame}` for things that are counted. */
  unit: string;
  meaning: string;
  labels: L;
  /** Bounds of the buckets of a histogram. */
  buckets?: readonly number[];
}

export interface CounterMetric<L extends Labels = Labels> extends Metric<L> {
  kind: 'counter';
}
export interface GaugeMetric<L extends Labels = Labels> extends Metric<L> {
  kind: 'gauge';
}
export interface HistogramMetric<L extends Labels = Labels> extends Metric<L> {
  kind: 'histogram';
  buckets: readonly number[];
}

// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- what has no labels has no keys
export type NoLabels = Record<never, never>;

interface Facts<L extends Labels> {
  meaning: string;
  unit?: string;
  labels?: L;
}

/** Declares a counter. It begins with 0 for every combination of labels whose values are listed. */
export const counter = <const L extends Labels = NoLabels>(name: string, facts: Facts<L>): CounterMetric<L> => ({
  kind: 'counter',
  name,
  ...completed(facts),
});

/** Declares a gauge. */
export const gauge = <const L extends Labels = NoLabels>(name: string, facts: Facts<L>): GaugeMetric<L> => ({
  kind: 'gauge',
  name,
  ...completed(facts),
});

/** Declares a histogram of seconds; the bounds of its buckets stand in `buckets.ts`. */
export const histogram = <const L extends Labels = NoLabels>(
  name: string,
  { buckets, ...facts }: Omit<Facts<L>, 'unit'> & { buckets: readonly number[] },
): HistogramMetric<L> => ({ kind: 'histogram', name, buckets, ...completed({ ...facts, unit: 's' }) });

const completed = <L extends Labels>({ meaning, unit = '', labels }: Facts<L>) => ({
  meaning,
  unit,
  // Left out means that there are none, and that is what L is then.
  labels: labels ?? ({} as L),
});

/** The words that Prometheus writes for units; things that are counted have none. */
const UNIT_WORDS: Record<string, string> = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

/**
 * The name with its unit at the end, as the specification of OpenTelemetry has it for Prometheus, and as collectors
 * write it that receive the same metric by OTLP.
 */
export function nameWithUnit({ name, unit, kind }: { name: string; unit: string; kind: Metric['kind'] }): string {
  const word = unit === '1' && kind === 'gauge' ? 'ratio' : UNIT_WORDS[unit];
  return word === undefined || name.split(/[._]/).includes(word) ? name : `${name}_${word}`;
}

/** The name on `/metrics`; a histogram has it with `_bucket`, `_count` and `_sum`. */
export function prometheusName(metric: Pick<Metric, 'name' | 'unit' | 'kind'>): string {
  const name = nameWithUnit(metric).replaceAll('.', '_');
  return metric.kind === 'counter' && !name.endsWith('_total') ? `${name}_total` : name;
}

/** The names of all its series. */
export function seriesOf(metric: Pick<Metric, 'name' | 'unit' | 'kind'>): string[] {
  const name = prometheusName(metric);
  return metric.kind === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name];
}
