/** States of a delivery, in the order of the document. `held`: its endpoint is disabled. */
export const deliveryStates = ['pending', 'delivered', 'failed', 'held'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Outcomes of an attempt. */
export const attemptOutcomes = ['delivered', 'http_status', 'timeout', 'unreachable', 'tls_invalid'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** Result of a request to a receiver. */
export interface Answer {
  outcome: AttemptOutcome;
  /** HTTP status, when there was an answer. */
  status?: number | undefined;
  /** Minimum time before the next attempt, from the receiver. */
  retryAfterMs?: number | undefined;
}

/** An attempt in the form that its delivery stores. */
export interface Attempt {
  at: string;
  outcome: AttemptOutcome;
  status?: number | undefined;
  duration_ms: number;
}

/** Number of latest attempts that a delivery stores. */
export const KEPT_ATTEMPTS = 20;

/** Limits of concurrent webhooks: of a process, of a subject, and of an endpoint. */
export const AT_ONCE = { process: 256, subject: 16, endpoint: 8 } as const;
/** The last slots of a process are for subjects with fewer running webhooks than this. */
const RESERVED = { slots: 64, perSubject: 2 } as const;

/** Webhooks that a process may start, for an endpoint and for a subject, with this many running. */
export function slotsFor(underWay: number): { limit: number; perEndpoint: number; perSubject: number } {
  const free = AT_ONCE.process - underWay;
  // Receivers that hang may hold all other slots for the duration of a webhook.
  return free > RESERVED.slots
    ? { limit: free - RESERVED.slots, perEndpoint: AT_ONCE.endpoint, perSubject: AT_ONCE.subject }
    : { limit: Math.max(0, free), perEndpoint: RESERVED.perSubject, perSubject: RESERVED.perSubject };
}

/** Maximum number of pending deliveries of one endpoint; further events are skipped until there is room. */
export const MAX_PENDING = 10_000;
/** Free deliveries that an endpoint needs to continue after skipped events; it gets one `events.missed`. */
export const ROOM_TO_GO_ON = 1_000;

/**
 * Why an endpoint is disabled. `requested`: its owner did it. `key_revoked`: the API key that changed it last was
 * revoked. `no_key`: its subject has no valid key.
 */
export const disabledReasons = ['failing', 'gone', 'requested', 'key_revoked', 'no_key'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

/** An endpoint that answered no webhook for this time, in at least this many attempts, is disabled. */
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
 * Pause before the next attempt; undefined when there is no further one.
 * @param failures failed attempts, this one included
 * @param ageMs time since the delivery first became due
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

/** The time in a `Retry-After` header; undefined when it is absent or cannot be parsed. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND;
  const date = /^[A-Za-z]{3},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
