import type { SnapshotMode } from '@vision/contracts/create-query';
import type { KeyScope } from '@vision/contracts/scopes';
import type { SubjectLimits } from '@vision/contracts/limits';
import { AppError, fail } from '@vision/contracts/errors';
import type { KeyRecord } from '../db/api-keys.ts';
import { keyIdOf, keyMatches } from '../domain/api-key.ts';
import { effectiveLimits } from '../domain/limits.ts';
import type { Deps } from './deps.ts';

type AuthenticateDeps = Pick<Deps, 'keyCache' | 'peppers' | 'throttle' | 'signals' | 'keyUse'>;

export interface KeyHolder {
  keyId: string;
  subject: string;
  limits: SubjectLimits;
  /** Setting of the subject; undefined: the default applies. */
  snapshots?: SnapshotMode | undefined;
  /** undefined: all scopes. */
  scopes: KeyScope[] | undefined;
}

/**
 * Identifies the holder of this key. An unknown key, a wrong secret, a revoked and an expired key get the same
 * response; a key that cannot be checked because the database is unavailable is 503, never accepted and never 401. A
 * valid key passes regardless of other requests from its network.
 */
export async function authenticateKey(deps: AuthenticateDeps, presented: string, network: string): Promise<KeyHolder> {
  const keyId = keyIdOf(presented);
  const record = keyId === undefined ? undefined : await findRecord(deps, keyId);
  if (!keyMatches(presented, record, deps.peppers) || record === undefined || keyId === undefined) {
    throw await refuseGuess(deps, network);
  }
  deps.keyUse.note(keyId, presented, record);
  const { subject, overrides, scopes, snapshots } = record;
  return { keyId, subject, limits: effectiveLimits(overrides), scopes, snapshots };
}

/** Whether an accepted key is still valid. A key that cannot be checked is not. */
export async function isKeyInForce(
  deps: Pick<AuthenticateDeps, 'keyCache' | 'peppers' | 'signals'>,
  presented: string,
): Promise<boolean> {
  const keyId = keyIdOf(presented);
  if (keyId === undefined) return false;
  try {
    return keyMatches(presented, await findRecord(deps, keyId), deps.peppers);
  } catch {
    return false;
  }
}

async function refuseGuess(
  { throttle, signals }: Pick<Deps, 'throttle' | 'signals'>,
  network: string,
): Promise<AppError> {
  const waitS = await throttle.failed(network);
  signals.refused(waitS === 0 ? 'key_invalid' : 'address_throttled');
  return waitS === 0 ? fail.authRequired() : fail.rateLimited('too_many_invalid_keys', waitS);
}

/** The key if it is valid. @throws AppError OP-SYS-UNAVAILABLE when it cannot be checked. */
export async function findRecord(
  { keyCache, signals }: Pick<Deps, 'keyCache' | 'signals'>,
  keyId: string,
): Promise<KeyRecord | undefined> {
  try {
    return await keyCache.find(keyId);
  } catch (error) {
    signals.keyStoreAway(error);
    throw error instanceof AppError ? error : fail.sysUnavailable('key_store_unavailable', error);
  }
}
