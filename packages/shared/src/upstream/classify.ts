import { isNativeError } from 'node:util/types';
import { errorTypes, quietEnds } from './error-type.ts';
import type { CallOutcome } from './error-type.ts';
import { UpstreamTimeoutError } from './ended-call.ts';

const words = new Set<string>([...errorTypes, ...quietEnds]);

/** Errors say more about the wire the deeper they lie, but more about the call the higher: ours are on top. */
const DEPTH = 5;

/**
 * The word for what a client library threw: the word that an error of ours carries, else what the codes of Node.js,
 * undici, PostgreSQL, ioredis and kafkajs mean. `failed` when nothing is known.
 */
export function outcomeOf(error: unknown): Exclude<CallOutcome, 'ok'> {
  for (let link: unknown = error, depth = 0; depth < DEPTH && link !== undefined && link !== null; depth += 1) {
    const word = wordOf(link);
    if (word) return word;
    link = (link as { cause?: unknown }).cause;
  }
  return 'failed';
}

/** The limit that was reached, in milliseconds; undefined for errors that are no timeout of ours. */
export function limitOf(error: unknown): number | undefined {
  for (let link: unknown = error, depth = 0; depth < DEPTH && link !== undefined && link !== null; depth += 1) {
    if (link instanceof UpstreamTimeoutError) return link.limitMs;
    link = (link as { cause?: unknown }).cause;
  }
  return undefined;
}

function wordOf(error: unknown): Exclude<CallOutcome, 'ok'> | undefined {
  const { errorType, code, name, message, reason } = Object(error) as Record<string, unknown>;
  if (typeof errorType === 'string' && words.has(errorType)) return errorType as Exclude<CallOutcome, 'ok'>;
  if (reason === 'breaker_open') return 'breaker_open';
  const known = (typeof code === 'string' ? byCode[code] : undefined) ?? byName[String(name)];
  if (known) return known;
  if (typeof code === 'string' && /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code)) {
    return 'tls_failed';
  }
  if (!isNativeError(error)) return undefined;
  return byMessage.find(([pattern]) => pattern.test(String(message)))?.[1];
}

const byCode: Record<string, Exclude<CallOutcome, 'ok'>> = {
  ENOTFOUND: 'name_unknown',
  EAI_AGAIN: 'name_unknown',
  ECONNREFUSED: 'connect_failed',
  EHOSTUNREACH: 'connect_failed',
  ENETUNREACH: 'connect_failed',
  ENETDOWN: 'connect_failed',
  ECONNRESET: 'connection_lost',
  ECONNABORTED: 'connection_lost',
  EPIPE: 'connection_lost',
  ETIMEDOUT: 'connect_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'headers_timeout',
  UND_ERR_BODY_TIMEOUT: 'body_timeout',
  UND_ERR_SOCKET: 'connection_lost',
  // Statement timeout, lock timeout, deadlock, too many connections, a server that is stopping or starting.
  '57014': 'total_timeout',
  '55P03': 'lock_timeout',
  '53300': 'saturated',
  '57P01': 'connection_lost',
  '57P03': 'connect_failed',
};

const byName: Record<string, Exclude<CallOutcome, 'ok'>> = {
  KnexTimeoutError: 'pool_timeout',
  MaxRetriesPerRequestError: 'connection_lost',
  KafkaJSRequestTimeoutError: 'total_timeout',
  KafkaJSConnectionError: 'connect_failed',
  KafkaJSConnectionClosedError: 'connection_lost',
};

const byMessage: [RegExp, Exclude<CallOutcome, 'ok'>][] = [
  [/timeout exceeded when trying to connect|timeout expired|connect ETIMEDOUT/, 'connect_timeout'],
  [/Query read timeout|Command timed out/, 'total_timeout'],
  [/Unable to acquire a connection/, 'pool_timeout'],
  [
    /Connection terminated|Connection is closed|Stream isn't writeable|Client has encountered a connection error/,
    'connection_lost',
  ],
  [/Client network socket disconnected before secure TLS/, 'tls_failed'],
  [/socket hang up/, 'connection_lost'],
];
