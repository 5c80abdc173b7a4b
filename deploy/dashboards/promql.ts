/** Expressions of panels. Metrics have their names on `/metrics`, histograms without the ending of a series. */

/** Only series of the namespace that the dashboard shows. */
const NAMESPACE = 'namespace=~"$namespace"';

/** A gauge, or any other series by its whole name. */
export function gauge(metric: string, ...matchers: string[]): string {
  return `${metric}{${[NAMESPACE, ...matchers].join(',')}}`;
}

/** How fast a counter grows, in events a second. */
export const rate = (counter: string, ...matchers: string[]) =>
  `rate(${gauge(counter, ...matchers)}[$__rate_interval])`;

/** By how much a counter has grown in the time that the dashboard shows. */
export const growth = (counter: string, ...matchers: string[]) => `increase(${gauge(counter, ...matchers)}[$__range])`;

/** How often a histogram was given a value, a second. */
export const recorded = (histogram: string, ...matchers: string[]) =>
  `rate(${gauge(`${histogram}_count`, ...matchers)}[$__rate_interval])`;

/** The same, in the time that the dashboard shows. */
export const recordedInAll = (histogram: string, ...matchers: string[]) =>
  `increase(${gauge(`${histogram}_count`, ...matchers)}[$__range])`;

/** How much of each second was spent in what a histogram of seconds measures. */
export const spent = (histogram: string, ...matchers: string[]) =>
  `rate(${gauge(`${histogram}_sum`, ...matchers)}[$__rate_interval])`;

/** Values of a histogram by bucket, for a heat map. */
export const buckets = (histogram: string, ...matchers: string[]) =>
  `sum by (le) (increase(${gauge(`${histogram}_bucket`, ...matchers)}[$__rate_interval]))`;

/** `by`: labels, separated by commas. */
export const sum = (by: string, expression: string) => aggregated('sum', by, expression);
export const max = (by: string, expression: string) => aggregated('max', by, expression);
export const avg = (by: string, expression: string) => aggregated('avg', by, expression);

export function quantile(q: number, histogram: string, by: string, ...matchers: string[]): string {
  const labels = by === '' ? 'le' : `le, ${by}`;
  const series = gauge(`${histogram}_bucket`, ...matchers);
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${series}[$__rate_interval])))`;
}

function aggregated(operator: string, by: string, expression: string): string {
  return by === '' ? `${operator}(${expression})` : `${operator} by (${by}) (${expression})`;
}
