import { isNativeError } from 'node:util/types';
import { AppError } from '@vision/contracts/errors';

/** An error in one line for operators: its reason, and what lies behind it. */
export function faultOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; isNativeError(at); at = at.cause) parts.push(wordsOf(at));
  return [...new Set(parts.filter((part) => part !== ''))].join(': ').slice(0, 500) || 'failed';
}

function wordsOf(error: Error): string {
  if (error instanceof AppError) return error.reason;
  // An attempt on several addresses has no message of its own.
  if (error.message === '' && 'errors' in error && Array.isArray(error.errors))
    return error.errors.map(faultOf).join(', ');
  return error.message;
}
