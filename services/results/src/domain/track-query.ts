import { fail } from '@vision/contracts/errors';

export const trackOrders = ['oldest', 'newest', 'changed'] as const;
export type TrackOrder = (typeof trackOrders)[number];

/** Where a list of tracks goes on: behind this value of its order and, among equal values, behind this id. */
export interface TrackKey {
  value: number;
  trackId: string;
}

/** What a list of tracks is asked for, checked. Scores are in millionths. */
export interface TrackQuery {
  order: TrackOrder;
  after: TrackKey | undefined;
  labels: string[] | undefined;
  fromMs: number | undefined;
  toMs: number | undefined;
  minScore: number;
  /** Tracks of one frame are listed from here on. */
  threshold: number;
  minDurationMs: number;
}

/** The same as it was sent. */
export interface TrackRequest {
  cursor: string | undefined;
  limit: number;
  order: TrackOrder;
  labels: string[] | undefined;
  fromMs: number | undefined;
  toMs: number | undefined;
  minScore: number | undefined;
  minDurationMs: number;
  state: 'active' | 'ended' | undefined;
}

export const DEFAULT_TRACKS = 100;
export const MAX_TRACKS = 500;
export const MAX_LABELS = 32;
const MAX_LABEL_LENGTH = 100;
const NAMES = [
  'cursor',
  'limit',
  'order',
  'labels',
  'from_ms',
  'to_ms',
  'min_score',
  'min_duration_ms',
  'state',
] as const;
type Name = (typeof NAMES)[number];

/**
 * Checks the query of a list of tracks.
 * @throws AppError OP-TASK-REQUEST-INVALID with `details.field`.
 */
export function parseTrackQuery(query: Record<string, unknown>): TrackRequest {
  const text = readerOf(query, NAMES);
  const order = oneOf(text('order') ?? 'oldest', 'order', trackOrders);
  const state = text('state');
  const range = parseRange(text('from_ms'), text('to_ms'));
  return {
    cursor: text('cursor') || undefined,
    limit: parseWhole(text('limit') ?? String(DEFAULT_TRACKS), 'limit', { least: 1, most: MAX_TRACKS }),
    order,
    labels: parseLabels(text('labels')),
    ...range,
    minScore: parseScore(text('min_score')),
    minDurationMs: parseWhole(text('min_duration_ms') ?? '0', 'min_duration_ms', { least: 0, most: MOST_MS }),
    state: state === undefined ? undefined : oneOf(state, 'state', ['active', 'ended'] as const),
  };
}

/** Reads parameters of a query. @throws AppError for a name that is not listed, and for one that is sent twice. */
function readerOf<N extends string>(
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

const MOST_MS = Number.MAX_SAFE_INTEGER;

/** Times in milliseconds, the first inclusive, the second exclusive. Frame times of files may be negative. */
function parseRange(
  from: string | undefined,
  to: string | undefined,
): { fromMs: number | undefined; toMs: number | undefined } {
  const range = { least: -MOST_MS, most: MOST_MS };
  const fromMs = from === undefined ? undefined : parseWhole(from, 'from_ms', range);
  const toMs = to === undefined ? undefined : parseWhole(to, 'to_ms', range);
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) throw invalid('to_ms', 'send a time after from_ms');
  return { fromMs, toMs };
}

function parseWhole(text: string, field: string, { least, most }: { least: number; most: number }): number {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw invalid(field, `send a whole number from ${least} to ${most}`);
}

function parseLabels(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const labels = text.split(',');
  if (labels.length > MAX_LABELS || labels.some((label) => label === '' || label.length > MAX_LABEL_LENGTH))
    throw invalid('labels', `send 1 to ${MAX_LABELS} labels of 1 to ${MAX_LABEL_LENGTH} characters, comma separated`);
  // No label has this character; PostgreSQL does not take it either.
  if (text.includes('\0')) throw invalid('labels', 'send no NUL character');
  return [...new Set(labels)];
}

/** In millionths. */
function parseScore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const score = /^(\d{1,32}(\.\d{0,32})?|\.\d{1,32})([eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(score >= 0 && score <= 1)) throw invalid('min_score', 'send a number from 0 to 1');
  return Math.ceil(score * 1e6 - 1e-6);
}

function oneOf<T extends string>(text: string, field: Name, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found === undefined) throw invalid(field, `send one of ${values.join(', ')}`);
  return found;
}

const invalid = (field: string, rule: string) => fail.requestInvalid('query_invalid', `${field}: ${rule}.`, { field });
