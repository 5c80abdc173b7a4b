import type { SubjectLimits } from '@vision/shared/contracts/limits';
import { AppError, fail } from '@vision/shared/errors';
import type { FailureThrottle } from '../clients/failure-throttle.ts';
import type { KeyRecord } from '../db/api-keys.ts';
import type { KeyCache } from '../db/key-cache.ts';
import { keyIdOf, keyMatches } from '../domain/api-key.ts';
import { effectiveLimits } from '../domain/limits.ts';
import type { Peppers } from '../domain/peppers.ts';
import type { Signals } from '../signals.ts';

export interface AuthenticateDeps {
  cache: KeyCache;
  peppers: Peppers;
  throttle: FailureThrottle;
  signals: Signals;
  /** Told of every accepted key. */
  used: (keyId: string, key: string, record: KeyRecord) => void;
}

export interface KeyHolder {
  keyId: string;
  subject: string;
  limits: SubjectLimits;
}

/**
 * Who presents this key. An unknown key, a wrong secret, a revoked and an expired key are one and the same answer; a key
 * that cannot be checked because the database is away is 503, never accepted and never 401.
 */
export async function authenticateKey(deps: AuthenticateDeps, presented: string, address: string): Promise<KeyHolder> {
  const keyId = keyIdOf(presented);
  if (keyId === undefined || !deps.cache.knows(keyId)) await refuseGuessing(deps, address);
  const record = keyId === undefined ? undefined : await findRecord(deps, keyId);
  if (!keyMatches(presented, record, deps.peppers) || record === undefined || keyId === undefined) {
    await deps.throttle.failed(address);
    deps.signals.refused('key_invalid');
    throw fail.authRequired();
  }
  deps.used(keyId, presented, record);
  return { keyId, subject: record.subject, limits: effectiveLimits(record.overrides) };
}

async function refuseGuessing({ throttle, signals }: AuthenticateDeps, address: string): Promise<void> {
  const waitS = await throttle.waitS(address);
  if (waitS === 0) return;
  signals.refused('address_throttled');
  throw fail.rateLimited('too_many_invalid_keys', waitS);
}

async function findRecord({ cache, signals }: AuthenticateDeps, keyId: string): Promise<KeyRecord | undefined> {
  try {
    return await cache.find(keyId);
  } catch (error) {
    signals.keyStoreAway();
    throw error instanceof AppError ? error : fail.sysUnavailable('key_store_unavailable', error);
  }
}
