import { fail } from '@vision/contracts/errors';

/** Returns a reader of query parameters. @throws AppError for an unknown or repeated name */
export function readerOf<N extends string>(
  query: Record<string, unknown>,
  names: readonly N[],
): (name: N) => string | undefined {
  const unknown = Object.keys(query).find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw fail.requestInvalid('unknown_field', `Only ${names.join(', ')} are accepted.`, {
      field: unknown.slice(0, 200),
    });
  return (name) => {
    const value = query[name];
    if (value === undefined || typeof value === 'string') return value;
    throw invalid(name, 'send it once');
  };
}

export const MOST_MS = Number.MAX_SAFE_INTEGER;

/** Times in milliseconds, the first inclusive, the second exclusive. Frame times of files may be negative. */
export function parseRange(
  from: string | undefined,
  to: string | undefined,
): { fromMs: number | undefined; toMs: number | undefined } {
  const range = { least: -MOST_MS, most: MOST_MS };
  const fromMs = from === undefined ? undefined : parseWhole(from, 'from_ms', range);
  const toMs = to === undefined ? undefined : parseWhole(to, 'to_ms', range);
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) throw invalid('to_ms', 'send a time after from_ms');
  return { fromMs, toMs };
}

/** Frames of a stream have Unix times. @throws AppError `query_invalid` for a time of a stream that is negative. */
export function refuseNegative(
  kind: 'stream' | 'upload' | null,
  { fromMs, toMs }: { fromMs?: number | undefined; toMs?: number | undefined },
): void {
  if (kind !== 'stream') return;
  if (fromMs !== undefined && fromMs < 0) throw invalid('from_ms', 'frame times of a stream are Unix milliseconds');
  if (toMs !== undefined && toMs < 0) throw invalid('to_ms', 'frame times of a stream are Unix milliseconds');
}

/** @throws AppError `query_invalid` unless the text is a whole number in this range. */
export function parseWhole(text: string, field: string, { least, most }: { least: number; most: number }): number {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalid(field, `send a whole number from ${least} to ${most}`);
}

/** A score in millionths. @throws AppError `query_invalid` */
export function parseScore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const score = /^(\d{1,32}(\.\d{0,32})?|\.\d{1,32})([eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(score >= 0 && score <= 1)) throw invalid('min_score', 'send a number from 0 to 1');
  return Math.ceil(score * 1e6 - 1e-6);
}

/** @throws AppError `query_invalid` for a text that is not listed. */
export function oneOf<T extends string>(text: string, field: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found === undefined) throw invalid(field, `send one of ${values.join(', ')}`);
  return found;
}

/** Error for an invalid query parameter. */
export const invalid = (field: string, rule: string) =>
  fail.requestInvalid('query_invalid', `${field}: ${rule}.`, { field });
