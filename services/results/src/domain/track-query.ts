import { invalid, MOST_MS, oneOf, parseRange, parseScore, parseWhole, readerOf } from './query-text.ts';

export const trackOrders = ['oldest', 'newest', 'changed'] as const;
export type TrackOrder = (typeof trackOrders)[number];

/** Where a list of tracks continues: after this value of its order and, among equal values, after this id. */
export interface TrackKey {
  value: number;
  trackId: string;
}

/** Validated query of a list of tracks. Scores are in millionths. */
export interface TrackQuery {
  order: TrackOrder;
  after: TrackKey | undefined;
  labels: string[] | undefined;
  fromMs: number | undefined;
  toMs: number | undefined;
  minScore: number;
  /** Tracks of one frame are listed from this score on. */
  threshold: number;
  minDurationMs: number;
}

/** The same before the defaults of the task apply. */
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

/**
 * Validates the query of a list of tracks.
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

function parseLabels(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const labels = text.split(',');
  if (labels.length > MAX_LABELS || labels.some((label) => label === '' || label.length > MAX_LABEL_LENGTH))
    throw invalid('labels', `send 1 to ${MAX_LABELS} labels of 1 to ${MAX_LABEL_LENGTH} characters, comma separated`);
  // No label has this character; PostgreSQL does not accept it either.
  if (text.includes('\0')) throw invalid('labels', 'send no NUL character');
  return [...new Set(labels)];
}
