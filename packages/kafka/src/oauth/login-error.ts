import { isNativeError } from 'node:util/types';
import type { Fault } from '@vision/shared/start/fault';

/**
 * There is no token, or the brokers refuse it. A kind of connection error, which kafkajs retries: token servers come
 * back, and brokers that cannot read new signing keys yet accept the same client a moment later.
 */
export class LoginError extends Error {
  // kafkajs goes by these two, and by `cause` when it wraps an error.
  override readonly name = 'KafkaJSConnectionError';
  readonly retriable = true;
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.sentence);
    this.fault = fault;
  }
}

/** The fault of the login that an error of kafkajs was caused by. */
export function loginFaultOf(error: unknown): Fault | undefined {
  let depth = 0;
  for (let at = error; isNativeError(at) && depth < 6; at = at.cause, depth += 1)
    if (at instanceof LoginError) return at.fault;
  return undefined;
}
