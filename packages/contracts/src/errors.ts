import type { errorCodes } from './problem.ts';
import type { KeyScope } from './scopes.ts';
import { publicReasons } from './reasons.ts';
import type { Reason, ReasonOf } from './reasons.ts';

/**
 * The one error vocabulary. A use case throws an `AppError`; `http/error-handler.ts` turns it into a problem document,
 * a consumer asks `isRetriable`. Messages of `AppError` are written for the caller; causes are for the log only.
 */
export type ErrorCode = (typeof errorCodes)[number];

export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'unsatisfiable'
  | 'exhausted'
  | 'unavailable'
  | 'internal';

export interface ErrorFacts {
  code?: ErrorCode | undefined;
  /** The exact reason: shown as `details.reason`. */
  reason: Reason;
  /** More facts for `details`; must hold no secret. */
  details?: Record<string, unknown> | undefined;
  /** Whole seconds after which a retry makes sense; becomes `Retry-After`. */
  retryAfterS?: number | undefined;
  cause?: unknown;
}

/** An expected failure with all facts that a caller, a log reader and a retry loop need. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly kind: ErrorKind;
  readonly code: ErrorCode | undefined;
  readonly reason: Reason;
  readonly details: Record<string, unknown>;
  readonly retryAfterS: number | undefined;

  constructor(kind: ErrorKind, message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = kind;
    this.code = facts.code;
    this.reason = facts.reason;
    this.details = facts.details ?? {};
    this.retryAfterS = facts.retryAfterS;
  }

  /** Whether the same call may succeed later without being changed. */
  get isRetriable(): boolean {
    return this.kind === 'unavailable' || this.kind === 'exhausted';
  }
}

type Details = Record<string, unknown>;

/** The sentence of a reason in the guide, or `otherwise` for reasons that no public operation returns. */
function sentenceOf(code: ErrorCode, reason: Reason, otherwise: string): string {
  const sentences: Record<string, string> = publicReasons[code];
  return sentences[reason]?.replaceAll('`', '') ?? otherwise;
}

interface DayState {
  limit: number;
  used: number;
  requested: number;
  /** Start of the next day, RFC 3339. */
  resets_at: string;
}

/** The catalogue of errors: every refusal of the service is created here, with its code, kind and wording. */
export const fail = {
  authRequired: (reason: ReasonOf<'OP-AUTH-REQUIRED'> = 'api_key_invalid') =>
    new AppError(
      'unauthenticated',
      reason in publicReasons['OP-AUTH-REQUIRED']
        ? `${sentenceOf('OP-AUTH-REQUIRED', reason, '')} Send a valid key in the header "Authorization: Bearer <API_KEY>".`
        : 'The token is missing or invalid. Send a valid one in the header "Authorization: Bearer <TOKEN>".',
      { code: 'OP-AUTH-REQUIRED', reason },
    ),
  /** A fault in any part of the request: always 400. `field` names the part. */
  requestInvalid: (reason: ReasonOf<'OP-TASK-REQUEST-INVALID'>, message: string, details: Details = {}) =>
    new AppError('invalid', message, { code: 'OP-TASK-REQUEST-INVALID', reason, details }),
  /** The key names a request with another meaning, or of the other kind. */
  keyReused: () =>
    new AppError('invalid', 'This Idempotency-Key was used for another request; send a new key for a new request.', {
      code: 'OP-TASK-REQUEST-INVALID',
      reason: 'idempotency_key_reused',
      details: { field: 'Idempotency-Key' },
    }),
  sceneUnavailable: (sceneCode: string) =>
    new AppError('invalid', 'This scene does not exist or is not enabled; GET /api/op/v1/scenes lists the scenes.', {
      code: 'OP-TASK-SCENE-UNAVAILABLE',
      reason: 'scene_unavailable',
      details: { field: 'scene_code', scene_code: sceneCode },
    }),
  notStoppable: (status: string) =>
    new AppError('conflict', `The task has already ended (${status}).`, {
      code: 'OP-TASK-NOT-STOPPABLE',
      reason: 'task_ended',
      details: { status },
    }),
  upstreamDown: (reason: ReasonOf<'OP-TASK-UPSTREAM-DOWN'>, cause?: unknown) =>
    new AppError(
      'unavailable',
      `${sentenceOf('OP-TASK-UPSTREAM-DOWN', reason, 'The inference backend is temporarily unavailable.')} ` +
        'Nothing was charged.',
      { code: 'OP-TASK-UPSTREAM-DOWN', reason, retryAfterS: 5, cause },
    ),
  breakerOpen: (retryAfterS: number) =>
    new AppError('unavailable', `${publicReasons['OP-TASK-BREAKER-OPEN'].breaker_open} Nothing was charged.`, {
      code: 'OP-TASK-BREAKER-OPEN',
      reason: 'breaker_open',
      retryAfterS,
    }),
  /** The operator's switch. Its duration is unknown, so `Retry-After` is constant. */
  maintenance: () =>
    new AppError('unavailable', 'The service is under maintenance and accepts no new work. Nothing was charged.', {
      code: 'OP-TASK-BREAKER-OPEN',
      reason: 'maintenance',
      retryAfterS: 60,
    }),
  /**
   * The remaining units of the day do not cover the request; a retry makes sense on the next day, or after
   * `retryAfterS` when units may be refunded by then.
   */
  dailyExhausted: ({ limit, used, requested, resets_at }: DayState, retryAfterS?: number) =>
    new AppError('exhausted', "Today's quota does not cover this request.", {
      code: 'OP-QUOTA-DAILY-EXHAUSTED',
      reason: 'daily_quota_exhausted',
      details: { limit, used, requested, resets_at },
      retryAfterS: Math.min(
        retryAfterS ?? Infinity,
        Math.max(1, Math.ceil((Date.parse(resets_at) - Date.now()) / 1000)),
      ),
    }),
  rateLimited: (reason: ReasonOf<'OP-QUOTA-RATE-LIMITED'>, retryAfterS: number, details: Details = {}) =>
    new AppError(
      'exhausted',
      `${sentenceOf('OP-QUOTA-RATE-LIMITED', reason, 'Too many requests.')} Retry after the time in Retry-After.`,
      { code: 'OP-QUOTA-RATE-LIMITED', reason, retryAfterS, details },
    ),
  /** A dependency of ours is unavailable or not configured. */
  sysUnavailable: (reason: ReasonOf<'OP-SYS-UNAVAILABLE'>, cause?: unknown, retryAfterS = 5) =>
    new AppError(
      'unavailable',
      `${sentenceOf('OP-SYS-UNAVAILABLE', reason, 'A part of the service is unavailable.')} ` +
        'Retry after the time in Retry-After; repeat a create request with the same Idempotency-Key.',
      { code: 'OP-SYS-UNAVAILABLE', reason, retryAfterS, cause },
    ),
  notFound: (message = 'There is nothing at this address.', reason: ReasonOf<'none'> = 'not_found') =>
    new AppError('not_found', message, { reason }),
  /** No byte of the representation lies in the requested range. */
  rangeUnsatisfiable: (bytes: number) =>
    new AppError('unsatisfiable', `The range begins behind the end of the content, which has ${bytes} bytes.`, {
      reason: 'range_not_satisfiable',
      details: { field: 'Range', bytes },
    }),
  methodNotAllowed: (allow: string[]) =>
    new AppError('method_not_allowed', `Use ${allow.join(' or ')}.`, {
      reason: 'method_not_allowed',
      details: { allow },
    }),
  forbidden: (reason: ReasonOf<'none'>, message: string) => new AppError('forbidden', message, { reason }),
  scopeMissing: (scope: KeyScope) =>
    new AppError('forbidden', `This operation requires an API key with the scope ${scope}.`, {
      reason: 'scope_missing',
      details: { scope },
    }),
  conflict: (reason: ReasonOf<'none'>, message: string, details: Details = {}) =>
    new AppError('conflict', message, { reason, details }),
  /** Only an ended task can be deleted. */
  taskNotEnded: (status: string) =>
    new AppError('conflict', `The task has not ended (${status}). Stop it first.`, {
      reason: 'task_not_ended',
      details: { status },
    }),
  /** An operator's verification of a task contradicts an earlier one. */
  verificationContradicts: (status: string) =>
    new AppError('conflict', 'The task was verified otherwise.', {
      reason: 'verification_contradicts',
      details: { status },
    }),
  /** An operator says that a task was not created, and the backend shows that it was. */
  verificationDisproved: (evidence: Details) =>
    new AppError('conflict', 'The backend has had a job for this task; it was created.', {
      reason: 'verification_disproved',
      details: { evidence },
    }),
  taskNotResolving: (status: string) =>
    new AppError('conflict', `The task is ${status}; there is nothing to verify.`, {
      reason: 'task_not_resolving',
      details: { status },
    }),
  /** A fault of ours. The details are in the log only. */
  internal: () =>
    new AppError('internal', 'The service has a defect; include trace_id in a support request.', {
      reason: 'internal',
    }),
};

/** The refusal that a call throws, so that documents and tests show the actual text and not a copy. */
export function refusalOf(act: () => unknown): AppError {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}

/** The error itself when it is an `AppError`, undefined otherwise. */
export function asAppError(error: unknown): AppError | undefined {
  return error instanceof AppError ? error : undefined;
}
