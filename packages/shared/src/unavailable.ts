import { isNativeError } from 'node:util/types';
import type { ReasonOf } from '@vision/contracts/reasons';
import { AppError, fail } from '@vision/contracts/errors';
import { codesOf } from './start/fault.ts';

/**
 * Recognises errors of an unavailable or overloaded store and returns them as an `AppError` of kind
 * `unavailable`: lost or refused connections, an exhausted pool, server shutdown, timeouts and lock waits of
 * PostgreSQL, retriable faults of Kafka and Redis clients. Undefined for everything else, so that `throw
 * asUnavailable(error) ?? error` is safe.
 */
export function asUnavailable(error: unknown, depth = 0): AppError | undefined {
  // Not instanceof: Node's own errors belong to another realm when the code runs in a vm context, as tests do.
  if (!isNativeError(error) || depth > 3) return undefined;
  if (error instanceof AppError) return error.kind === 'unavailable' ? error : undefined;
  const reason = reasonOf(error);
  if (reason) return fail.sysUnavailable(reason, error);
  return error.cause === undefined ? undefined : asUnavailable(error.cause, depth + 1);
}

/**
 * The same for background work, which repeats by itself: undefined also for failures that only an operator can end,
 * although callers receive a retriable error (a statement beyond its time limit, a refusal of the object store). Such a
 * failure is a fault, as a missing grant is, which `asUnavailable` does not recognise either.
 */
export function asOutage(error: unknown): AppError | undefined {
  return isStoreFault(error) ? undefined : asUnavailable(error);
}

/** The object store answers and refuses us: keys, rights or the bucket are wrong. */
export const STORE_REFUSALS = [
  'AccessDenied',
  'AllAccessDisabled',
  'ExpiredToken',
  'Forbidden',
  'InvalidAccessKeyId',
  'InvalidToken',
  'NoSuchBucket',
  'SignatureDoesNotMatch',
];

// Statement timeout, missing grant.
const FAULT_CODES = new Set(['57014', '42501', ...STORE_REFUSALS]);

/** Whether a store responds with a failure that the data to be stored did not cause. */
export const isStoreFault = (error: unknown): boolean => codesOf(error).some((code) => FAULT_CODES.has(code));

function reasonOf(error: Error & { code?: unknown; retriable?: unknown }): ReasonOf<'OP-SYS-UNAVAILABLE'> | undefined {
  const code = typeof error.code === 'string' ? error.code : '';
  if (NETWORK_CODES.has(code)) return 'connection_lost';
  if (/^[0-9A-Z]{5}$/.test(code)) {
    return POSTGRES_AWAY.test(code) ? 'database_unavailable' : POSTGRES_BUSY.test(code) ? 'database_busy' : undefined;
  }
  if (error.name === 'KnexTimeoutError') return 'database_pool_exhausted';
  if (CONNECTION_MESSAGES.test(error.message)) return 'connection_lost';
  if (error.name.startsWith('KafkaJS') && error.retriable === true) return 'kafka_unavailable';
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return 'kafka_unavailable';
  if (error.name === 'MaxRetriesPerRequestError') return 'redis_unavailable';
  return undefined;
}

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
]);

// Connection exceptions, operator intervention, too many connections, disk full, out of memory, I/O error, a
// standby after failover.
const POSTGRES_AWAY = /^(08...|57P0[1-5]|53[123]00|58030|25006|25P03)$/;
// Statement timeout, lock timeout, serialization failure, deadlock.
const POSTGRES_BUSY = /^(57014|55P03|40001|40P01)$/;

// knex puts the statement before the message of the driver: "ROLLBACK - Client has encountered …".
const CONNECTION_MESSAGES =
  /(?:^| - )(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Connection is closed|Unable to acquire a connection|Client was closed and is not queryable)/;
