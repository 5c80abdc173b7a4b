import type { AppError, ErrorKind } from '@vision/contracts/errors';
import type { HeaderName } from './openapi-headers.ts';
import type { Problem } from '@vision/contracts/problem';

/** The only place where a kind of error becomes an HTTP status. */
export const statusOfKind: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  unsatisfiable: 416,
  exhausted: 429,
  unavailable: 503,
  internal: 500,
};

const titleOfKind: Record<ErrorKind, string> = {
  invalid: 'Request invalid',
  unauthenticated: 'Authentication required',
  forbidden: 'Not allowed',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  conflict: 'Conflict',
  unsatisfiable: 'Range not satisfiable',
  exhausted: 'Limit reached',
  unavailable: 'Temporarily unavailable',
  internal: 'Internal error',
};

/** What a request is named by, in the headers of its answer and in a problem document. */
export interface RequestIds {
  /** X-Request-Id */
  requestId: string;
  /** X-Trace-Id */
  traceId: string;
}

/** The problem document of an error that answers the request with these ids. */
export function toProblem(error: AppError, { requestId, traceId }: RequestIds): Problem {
  return {
    type: `urn:vision:problem:${error.reason}`,
    title: titleOfKind[error.kind],
    status: statusOfKind[error.kind],
    detail: error.message,
    instance: `urn:request:${requestId}`,
    ...(error.code ? { code: error.code } : {}),
    details: { reason: error.reason, ...error.details },
    trace_id: traceId,
    retryable: error.isRetriable,
  };
}

/** Headers that belong to the answer for this error. */
export function headersOfError(error: AppError): Partial<Record<HeaderName, string>> {
  const headers: Partial<Record<HeaderName, string>> = { 'Cache-Control': 'no-store' };
  const allow = error.details['allow'];
  if (error.kind === 'unauthenticated') headers['WWW-Authenticate'] = 'Bearer';
  if (error.kind === 'method_not_allowed' && Array.isArray(allow)) headers['Allow'] = allow.join(', ');
  if (error.kind === 'unsatisfiable') headers['Content-Range'] = `bytes */${String(error.details['bytes'])}`;
  if (error.kind === 'exhausted' || error.kind === 'unavailable')
    headers['Retry-After'] = String(error.retryAfterS ?? 1);
  return headers;
}
