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

/** 0 when the series is absent: an event that never happened has none. `all` has the labels that `some` would have. */
export const orZero = (some: string, all: string) => `(${some} or 0 * ${all})`;

/** The share of `some` in `all`; 0 while `some` is absent. */
export const share = (some: string, all: string) => `${orZero(some, all)} / ${all}`;

/** Growth of a counter in the time range of the dashboard. */
export const growth = (counter: string, ...matchers: string[]) => `increase(${gauge(counter, ...matchers)}[$__range])`;

/** Observations of a histogram per second. */
export const recorded = (histogram: string, ...matchers: string[]) =>
  `rate(${gauge(`${histogram}_count`, ...matchers)}[$__rate_interval])`;

/**
 * Count of a rare event, in the time range of the dashboard or in each step of it. A series that begins with its first
 * event counts in full; `increase` and `rate` would miss that event.
 */
export const happened = (series: string, ...matchers: string[]) => grown(gauge(series, ...matchers), '$__range');
export const happening = (series: string, ...matchers: string[]) =>
  grown(gauge(series, ...matchers), '$__rate_interval');

/**
 * Growth over a window; the whole value of a series that is new in it, as after a restart. If missed scrapes left a gap
 * at the start of the window, the last value within the hour before counts, so that history is not counted as growth.
 */
export const grown = (now: string, window: string) =>
  `(${now} - last_over_time(${now}[1h] offset ${window}) >= 0 or ${now})`;

/** Seconds spent per second in the activity that a histogram of seconds measures. */
export const spent = (histogram: string, ...matchers: string[]) =>
  `rate(${gauge(`${histogram}_sum`, ...matchers)}[$__rate_interval])`;

/** Values of a histogram by bucket, for a heat map. */
export const buckets = (histogram: string, ...matchers: string[]) =>
  sum('le', happening(`${histogram}_bucket`, ...matchers));

/** `by`: labels, separated by commas. */
export const sum = (by: string, expression: string) => aggregated('sum', by, expression);
export const max = (by: string, expression: string) => aggregated('max', by, expression);
export const avg = (by: string, expression: string) => aggregated('avg', by, expression);

export const quantile = (q: number, histogram: string, by: string, ...matchers: string[]) =>
  quantileOf(q, by, `rate(${gauge(`${histogram}_bucket`, ...matchers)}[$__rate_interval])`);

/** The same for rare events: the first one counts too. */
export const quantileOfRare = (q: number, histogram: string, by: string, ...matchers: string[]) =>
  quantileOf(q, by, happening(`${histogram}_bucket`, ...matchers));

const quantileOf = (q: number, by: string, counts: string) =>
  `histogram_quantile(${q}, ${sum(by === '' ? 'le' : `le, ${by}`, counts)})`;

function aggregated(operator: string, by: string, expression: string): string {
  return by === '' ? `${operator}(${expression})` : `${operator} by (${by}) (${expression})`;
}
