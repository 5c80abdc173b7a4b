import { metrics } from '@opentelemetry/api';
import type { Attributes, MetricOptions, ObservableResult } from '@opentelemetry/api';
import type { CounterMetric, GaugeMetric, HistogramMetric, Labels, Metric } from './metric.ts';

/** What a label may be given: one of its values, or anything when they are described in words. */
type Given<L extends Labels> = {
  [K in keyof L]: L[K] extends readonly string[] ? L[K][number] : string | number | boolean;
};
/** Nothing for a metric without labels, else all of them. */
type LabelArguments<L> = [keyof L] extends [never] ? [] : [labels: L];

export interface Counter<G> {
  add: (value: number, ...labels: LabelArguments<G>) => void;
}
export interface Recorder<G> {
  record: (value: number, ...labels: LabelArguments<G>) => void;
}

/**
 * The only place where instruments are made, so that a metric that is declared nowhere cannot exist. One meter for all:
 * names say whose they are.
 */
const meter = () => metrics.getMeter('vision');

/** The metrics that this process has instruments for, whether anything was measured or not. */
export const madeMetrics = new Map<string, Metric>();

/**
 * A counter. `fixed` labels are the same at every count. Where the values of the others are listed it begins with 0 for
 * all of them: a counter that first appears with its first event shows no increase.
 */
export function createCounter<L extends Labels, F extends keyof L = never>(
  metric: CounterMetric<L>,
  fixed?: Pick<Given<L>, F>,
): Counter<Omit<Given<L>, F>> {
  const instrument = meter().createCounter(metric.name, optionsOf(metric));
  const given: Attributes = { ...fixed };
  for (const labels of combinations(metric.labels, given)) instrument.add(0, { ...given, ...labels });
  return { add: (value, ...[labels]) => instrument.add(value, { ...given, ...(labels as Attributes | undefined) }) };
}

/** A histogram of seconds. */
export function createHistogram<L extends Labels, F extends keyof L = never>(
  metric: HistogramMetric<L>,
  fixed?: Pick<Given<L>, F>,
): Recorder<Omit<Given<L>, F>> {
  const options = { ...optionsOf(metric), advice: { explicitBucketBoundaries: [...metric.buckets] } };
  const instrument = meter().createHistogram(metric.name, options);
  const given: Attributes = { ...fixed };
  return {
    record: (value, ...[labels]) => instrument.record(value, { ...given, ...(labels as Attributes | undefined) }),
  };
}

/** A gauge that keeps what was recorded last, for what changes seldom and never goes away. */
export function createGauge<L extends Labels>(metric: GaugeMetric<L>): Recorder<Given<L>> {
  const instrument = meter().createGauge(metric.name, optionsOf(metric));
  return { record: (value, ...[labels]) => instrument.record(value, labels) };
}

export type Tell<L extends Labels> = (value: number, ...labels: LabelArguments<Given<L>>) => void;

/**
 * A gauge that is read when metrics are. Values that `read` leaves out are not shown. Every scrape calls it, so it
 * must query no store. @returns the function that ends it
 */
export function observe<L extends Labels>(metric: GaugeMetric<L>, read: (tell: Tell<L>) => void): () => void {
  const instrument = meter().createObservableGauge(metric.name, optionsOf(metric));
  const callback = (result: ObservableResult) => read((value, ...[labels]) => result.observe(value, labels));
  instrument.addCallback(callback);
  return () => instrument.removeCallback(callback);
}

function optionsOf(metric: Metric): MetricOptions {
  madeMetrics.set(metric.name, metric);
  return { description: metric.meaning, unit: metric.unit };
}

/** All combinations of the labels that are not given; none when the values of one of them are not listed. */
function combinations(labels: Labels, given: Attributes): Attributes[] {
  let all: Attributes[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    if (label in given) continue;
    const listed = typeof values === 'string' ? [] : values;
    all = all.flatMap((one) => listed.map((value) => ({ ...one, [label]: value })));
  }
  return all;
}
