/** Every word that `error.type` of a call to an upstream can be; labels of metrics and panels use the same. */
export const errorTypes = [
  // Time ran out, told by what was waited for.
  'connect_timeout',
  'headers_timeout',
  'body_timeout',
  'idle_timeout',
  'total_timeout',
  'queue_timeout',
  'pool_timeout',
  'lock_timeout',
  'deadline_exceeded',
  // The call was not made.
  'breaker_open',
  'name_unknown',
  'connect_failed',
  'tls_failed',
  // The call was made.
  'connection_lost',
  'reply_unreadable',
  'answered_4xx',
  'answered_5xx',
  'saturated',
  'failed',
] as const;

export type ErrorType = (typeof errorTypes)[number];

/** How a call ends that failed through no fault of the other side. */
export const quietEnds = ['client_left', 'client_slow', 'canceled'] as const;

export type QuietEnd = (typeof quietEnds)[number];

export type CallOutcome = 'ok' | ErrorType | QuietEnd;

const quiet = new Set<string>(quietEnds);

export const isQuiet = (outcome: CallOutcome): outcome is QuietEnd => quiet.has(outcome);

/** Whether the word says that time ran out. */
export const isTimeout = (outcome: CallOutcome): boolean =>
  outcome.endsWith('_timeout') || outcome === 'deadline_exceeded';
