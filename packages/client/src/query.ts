export type QueryValues = Record<string, string | number | boolean | undefined>;

/** A query string, or nothing. */
export function queryText(values: QueryValues): string {
  const given = Object.entries(values).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== undefined,
  );
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}
