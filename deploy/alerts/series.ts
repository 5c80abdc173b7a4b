/** Input of a test of rules: values by series, in the notation of promtool, one value a minute. */
export type Series = Record<string, string>;

/** A counter that grows evenly. */
export const growing = (series: string, perMinute: number, minutes: number): Series => ({
  [withNamespace(series)]: `0+${perMinute}x${minutes}`,
});

/** A gauge that stays, or a counter of which nothing happens. */
export const steady = (series: string, value: number, minutes: number): Series => ({
  [withNamespace(series)]: `${value}x${minutes}`,
});

/** Any values: `0x10 1x5` is 0 for ten minutes, then 1 for five. */
export const values = (series: string, text: string): Series => ({ [withNamespace(series)]: text });

export const together = (...parts: Series[]): Series => Object.assign({}, ...parts) as Series;

/** Everything is in one namespace, as the label of a scrape says. */
function withNamespace(series: string): string {
  return series.includes('{') ? series.replace('{', '{namespace="vision",') : `${series}{namespace="vision"}`;
}
