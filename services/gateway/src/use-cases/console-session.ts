import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import type { IssuedCode } from '../domain/console-codes.ts';
import { createKey } from './create-key.ts';
import type { CreatedKey } from './create-key.ts';
import type { Deps } from './deps.ts';

/** Validity of the key of a one-time sign-in. */
const KEY_S = 12 * 3600;

/**
 * A code that signs in to the console once.
 * @throws AppError not_found when one-time sign-ins are off.
 */
export function issueConsoleCode({ consoleCodes }: Pick<Deps, 'consoleCodes'>, subject: string): IssuedCode {
  if (!consoleCodes) {
    throw fail.notFound('One-time sign-ins are off (CONSOLE_ONE_TIME).', 'console_codes_off');
  }
  return consoleCodes.issue(subject, Date.now());
}

/**
 * A new key for a code. A wrong, used and expired code get the same response, and count like wrong keys.
 * @throws AppError not_found `link_invalid`; `too_many_invalid_keys` beyond the allowance of the network.
 */
export async function openConsoleSession(
  deps: Pick<Deps, 'consoleCodes' | 'db' | 'peppers' | 'signals' | 'throttle'>,
  code: string,
  network: string,
): Promise<CreatedKey> {
  const subject = deps.consoleCodes?.redeem(code, Date.now());
  if (subject === undefined) throw await refuseCode(deps, network);
  return createKey(deps, { name: 'console', subject, actor: 'console', expiresInS: KEY_S });
}

async function refuseCode(
  { throttle, signals }: Pick<Deps, 'throttle' | 'signals'>,
  network: string,
): Promise<AppError> {
  const waitS = await throttle.failed(network);
  signals.refused(waitS === 0 ? 'link_invalid' : 'address_throttled');
  return waitS === 0
    ? fail.notFound('The sign-in link is invalid, was used or has expired.', 'link_invalid')
    : fail.rateLimited('too_many_invalid_keys', waitS);
}
