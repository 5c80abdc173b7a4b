import { isNativeError } from 'node:util/types';

const TYPES: ReadonlySet<unknown> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);

/** Whether the broker refused a record because of its size: no retry changes that. */
export function isTooLarge(error: unknown, depth = 0): boolean {
  if (!isNativeError(error) || depth > 3) return false;
  return TYPES.has((error as { type?: unknown }).type) || isTooLarge(error.cause, depth + 1);
}
