import type { CallOutcome } from './error-type.ts';

/** What is known of a call that failed, in the words of spans and log lines. */
export interface UpstreamFacts {
  name: string;
  operation: string;
  error_type: CallOutcome;
  /** The limit that was in force, and the time that was spent, in milliseconds. */
  limit_ms?: number | undefined;
  spent_ms: number;
  /** Left of the time in which the request has to be answered. */
  deadline_left_ms?: number | undefined;
  attempt?: number | undefined;
  attempts?: number | undefined;
  breaker_state?: string | undefined;
  bytes_sent?: number | undefined;
}

const remembered = new WeakMap<object, UpstreamFacts>();

/** Remembers what is known of the call that ended in this error; the innermost call is kept. */
export function rememberFacts(error: unknown, facts: UpstreamFacts): void {
  if (typeof error === 'object' && error !== null && !factsOf(error)) remembered.set(error, facts);
}

/** The facts of the call that this error, or what caused it, ended. */
export function factsOf(error: unknown, depth = 0): UpstreamFacts | undefined {
  if (typeof error !== 'object' || error === null || depth > 5) return undefined;
  return remembered.get(error) ?? factsOf((error as { cause?: unknown }).cause, depth + 1);
}
