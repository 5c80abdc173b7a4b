import { AppError } from '../errors.ts';
import { fail } from '../errors.ts';

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '53300', // too_many_connections
  '57014', // query_canceled: statement_timeout
  '55P03', // lock_not_available: lock_timeout
  '25006', // read_only_sql_transaction: a demoted primary
]);

/**
 * Recognises that the database was away, overloaded or gave up in time, and nothing is wrong with the request.
 * @returns OP-SYS-UNAVAILABLE, or undefined for any other error.
 */
export function asUnavailable(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error.kind === 'unavailable' ? error : undefined;
  if (!(error instanceof Error)) return undefined;
  const code = (error as { code?: unknown }).code;
  const isConnection = typeof code === 'string' && (CONNECTION_CODES.has(code) || code.startsWith('08'));
  const isPool = error.name === 'KnexTimeoutError';
  const isDropped =
    /^Connection terminated|^Client has encountered a connection error|timeout exceeded when trying to connect/.test(
      error.message,
    );
  return isConnection || isPool || isDropped ? fail.sysUnavailable('database_unavailable', error) : undefined;
}
