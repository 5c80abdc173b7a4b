import { fail } from '@vision/shared/errors';

/** What a caller asked for, checked. */
export interface ResultQuery {
  cursor: string | undefined;
  limit: number;
  /** Absent: the threshold frozen at creation applies. */
  minScore: number | undefined;
}

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 500;
const NAMES: ReadonlySet<string> = new Set(['cursor', 'limit', 'min_score']);

/**
 * Checks the query of a results request. Numbers are taken as plain number texts only: no signs of infinity, no
 * hexadecimal, no blanks, nothing twice; a name that is misspelt is refused, not ignored.
 * @throws AppError OP-TASK-REQUEST-INVALID with `details.field`.
 */
export function parseResultQuery(query: Record<string, unknown>): ResultQuery {
  const unknown = Object.keys(query).find((name) => !NAMES.has(name));
  if (unknown !== undefined) throw unknownName(unknown);
  return {
    // An empty cursor is what a client sends that has none yet.
    cursor: single(query, 'cursor') || undefined,
    limit: parseLimit(single(query, 'limit')),
    minScore: parseMinScore(single(query, 'min_score')),
  };
}

/**
 * The score a page is filtered by: what was asked for, but not below what inference wrote with; without a wish the
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

const invalid = (field: string, rule: string) => fail.requestInvalid('query_invalid', `${field}: ${rule}.`, { field });

const unknownName = (name: string) =>
  fail.requestInvalid('unknown_field', `Only ${[...NAMES].join(', ')} are accepted.`, { field: name.slice(0, 200) });
