import { fail } from '@vision/contracts/errors';
import type { ObjectFilter } from './object-filter.ts';
import { invalid, parseRange, refuseNegative } from './query-text.ts';
import { parseRegion } from '@vision/contracts/region';
import type { Anchor } from '@vision/contracts/region';

/** Validated selection of frames and objects. */
export interface Selection {
  /** Absent: the threshold fixed at creation applies. */
  minScore: number | undefined;
  /** Objects that do not match are omitted from their frame. */
  objects: ObjectFilter;
  /** Frames of other times are omitted. */
  times: TimeRange | undefined;
  /** Whether frames without a selected object are omitted. */
  skipEmpty: boolean;
}

/** Frame times in milliseconds, from inclusive, to exclusive. */
export interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** Before every frame time of a query. */
const BEFORE_ALL_MS = Number.MIN_SAFE_INTEGER - 1;

/** A validated results query. */
export interface ResultQuery extends Selection {
  cursor: string | undefined;
  limit: number;
}

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 500;
export const MAX_LABELS = 32;
const MAX_LABEL_LENGTH = 100;
const LABEL = new RegExp(`^.{1,${MAX_LABEL_LENGTH}}$`, 'su');
export const TRACK_ID = /^[\w.-]{1,64}$/;
const SELECTION = ['min_score', 'labels', 'from_ms', 'to_ms', 'region', 'anchor', 'track_id', 'skip_empty'];
const PAGE_NAMES = ['cursor', 'limit'];
const NAMES = [...PAGE_NAMES, ...SELECTION];

/**
 * Validates the query of a results request. Numbers are accepted as plain decimal texts only: no infinity, no
 * hexadecimal, no blanks, no repeated names; an unknown name is rejected, not ignored.
 * @throws AppError OP-TASK-REQUEST-INVALID with `details.field`.
 */
export function parseResultQuery(query: Record<string, unknown>): ResultQuery {
  refuseUnknown(query, NAMES);
  return { cursor: parseCursor(query), limit: parseLimit(single(query, 'limit')), ...parseSelection(query) };
}

/**
 * Validates the query of a result stream: the same without `limit`.
 * @throws AppError OP-TASK-REQUEST-INVALID with `details.field`.
 */
export function parseStreamQuery(query: Record<string, unknown>): Selection & Pick<ResultQuery, 'cursor'> {
  refuseUnknown(query, ['cursor', ...SELECTION]);
  return { cursor: parseCursor(query), ...parseSelection(query) };
}

function parseSelection(query: Record<string, unknown>): Selection {
  return {
    minScore: parseMinScore(single(query, 'min_score')),
    objects: {
      labels: parseLabels(single(query, 'labels')),
      trackId: parseTrack(single(query, 'track_id')),
      area: parseArea(single(query, 'region'), single(query, 'anchor')),
    },
    times: parseTimes(single(query, 'from_ms'), single(query, 'to_ms')),
    skipEmpty: parseFlag('skip_empty', single(query, 'skip_empty')),
  };
}

/** Validates the query of a list that has pages and no filter. @throws AppError OP-TASK-REQUEST-INVALID */
export function parsePageQuery(query: Record<string, unknown>): Pick<ResultQuery, 'cursor' | 'limit'> {
  refuseUnknown(query, PAGE_NAMES);
  return { cursor: parseCursor(query), limit: parseLimit(single(query, 'limit')) };
}

/** A client that has no cursor yet may send an empty one. */
const parseCursor = (query: Record<string, unknown>) => single(query, 'cursor') || undefined;

/**
 * The score by which a page is filtered: the requested one, but at least the lower bound of inference; by default the
 * threshold of the task.
 */
export function effectiveScore(
  minScore: number | undefined,
  frozen: { lowerBound: number; defaultMinScore: number },
): number {
  return minScore === undefined ? frozen.defaultMinScore : Math.max(minScore, frozen.lowerBound);
}

function single(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw invalid(name, 'send it once');
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw invalid('limit', `send a whole number from 1 to ${MAX_LIMIT}`);
  return limit;
}

function parseMinScore(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const score = /^-?(\d{1,32}(\.\d{0,32})?|\.\d{1,32})([eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(score >= 0 && score <= 1)) throw invalid('min_score', 'send a number from 0 to 1');
  return score;
}

function parseLabels(text: string | undefined): ReadonlySet<string> | undefined {
  if (text === undefined) return undefined;
  const labels = text.split(',', MAX_LABELS + 1);
  if (labels.length > MAX_LABELS || !labels.every(isLabel))
    throw invalid(
      'labels',
      `send 1 to ${MAX_LABELS} labels of 1 to ${MAX_LABEL_LENGTH} characters, separated by commas`,
    );
  return new Set(labels);
}

const isLabel = (label: string) => LABEL.test(label) && !label.includes('\0');

function parseTrack(text: string | undefined): string | undefined {
  if (text !== undefined && !TRACK_ID.test(text)) throw invalid('track_id', 'send the track_id of an object');
  return text;
}

function parseArea(region: string | undefined, anchor: string | undefined): ObjectFilter['area'] {
  if (region !== undefined) return { region: parseRegion(region), anchor: parseAnchor(anchor) };
  if (anchor !== undefined) throw invalid('anchor', 'send it with region only');
  return undefined;
}

function parseAnchor(text = 'bottom_center'): Anchor {
  if (text === 'bottom_center' || text === 'center') return text;
  throw invalid('anchor', 'send bottom_center or center');
}

function parseTimes(from: string | undefined, to: string | undefined): TimeRange | undefined {
  if (from === undefined && to === undefined) return undefined;
  const { fromMs = BEFORE_ALL_MS, toMs = Number.MAX_SAFE_INTEGER } = parseRange(from, to);
  return { fromMs, toMs };
}

/** Times are those of frames of this kind of task. @throws AppError `query_invalid` */
export function checkTimes({ times }: Selection, kind: 'stream' | 'upload' | null): void {
  if (times) refuseNegative(kind, { ...times, fromMs: times.fromMs === BEFORE_ALL_MS ? undefined : times.fromMs });
}

function parseFlag(name: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw invalid(name, 'send true or false');
}

function refuseUnknown(query: Record<string, unknown>, names: readonly string[]): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw fail.requestInvalid('unknown_field', `Only ${names.join(', ')} are accepted.`, {
    field: unknown.slice(0, 200),
  });
}
