/** States of a delivery, in the order of the document. `held`: its endpoint is disabled. */
export const deliveryStates = ['pending', 'delivered', 'failed', 'held'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** How one attempt ended. */
export const attemptOutcomes = ['delivered', 'http_status', 'timeout', 'unreachable', 'tls_invalid'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** What a receiver did with a request. */
export interface Answer {
  outcome: AttemptOutcome;
  /** HTTP status, when there was an answer. */
  status?: number | undefined;
  /** Time that the receiver asks for before the next attempt. */
  retryAfterMs?: number | undefined;
}

/** An attempt as its delivery keeps it. */
export interface Attempt {
  at: string;
  outcome: AttemptOutcome;
  status?: number | undefined;
  duration_ms: number;
}

/** Attempts that a delivery keeps; the latest ones. */
export const KEPT_ATTEMPTS = 20;

/** Webhooks under way at once: in a process, of a subject, and to an endpoint. */
export const AT_ONCE = { process: 256, subject: 16, endpoint: 8 } as const;
/** The last slots of a process are for subjects that have less than this under way. */
const RESERVED = { slots: 64, perSubject: 2 } as const;

/** How many webhooks a process may begin, to an endpoint and of a subject, with so many under way. */
export function slotsFor(underWay: number): { limit: number; perEndpoint: number; perSubject: number } {
  const free = AT_ONCE.process - underWay;
  // Receivers that hang may hold all other slots for as long as a webhook may take.
  return free > RESERVED.slots
    ? { limit: free - RESERVED.slots, perEndpoint: AT_ONCE.endpoint, perSubject: AT_ONCE.subject }
    : { limit: Math.max(0, free), perEndpoint: RESERVED.perSubject, perSubject: RESERVED.perSubject };
}

/** Deliveries that may be pending for one endpoint; events beyond are left out until there is room. */
export const MAX_PENDING = 10_000;
/** Free deliveries that an endpoint needs before it continues after being left out; it gets one `events.missed`. */
export const ROOM_TO_GO_ON = 1_000;

/**
 * Why an endpoint is disabled. `requested`: its owner did it. `key_revoked`: the API key by which it was last changed
 * was revoked. `no_key`: its subject has no key in force.
 */
export const disabledReasons = ['failing', 'gone', 'requested', 'key_revoked', 'no_key'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** An endpoint that answered no webhook for so long, in at least so many attempts, is disabled. */
export const DISABLE_AFTER = { hours: 72, failures: 10 } as const;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after failed attempts; the last one is repeated. */
const PAUSES_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
] as const;
const SPREAD = 0.2;
const MAX_RETRY_AFTER_MS = HOUR;
/** No attempt begins later than this after the first. */
const ATTEMPTS_END_MS = 24 * HOUR;

/**
 * Pause before the next attempt; undefined when no further one is made.
 * @param failures attempts that have failed, this one included
 * @param ageMs time since the delivery became due for the first time
 */
export function nextAttemptIn(
  { failures, ageMs, retryAfterMs = 0 }: { failures: number; ageMs: number; retryAfterMs?: number | undefined },
  random = Math.random,
): number | undefined {
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? 5 * SECOND;
  const spread = pause * (1 - SPREAD + 2 * SPREAD * random());
  const wait = Math.max(spread, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
  return ageMs + wait > ATTEMPTS_END_MS ? undefined : Math.round(wait);
}

/** The time that a `Retry-After` asks for; undefined when it is absent or cannot be read. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  const date = /^[A-Za-z]{3},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
