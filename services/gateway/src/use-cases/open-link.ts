import type { AppError } from '@vision/contracts/errors';
import { fail } from '@vision/contracts/errors';
import { openLink } from '../domain/link.ts';
import { effectiveLimits } from '../domain/limits.ts';
import type { KeyHolder } from './authenticate-key.ts';
import { findRecord } from './authenticate-key.ts';
import type { Deps } from './deps.ts';

export interface OpenedLink {
  holder: KeyHolder;
  path: string;
}

/**
 * The path of a token. A changed and an expired token, and one whose key is no longer valid, get the same response and
 * count like wrong keys. A valid link opens, regardless of other requests from its network.
 * @throws AppError not_found `link_invalid`; `too_many_invalid_keys` beyond the allowance of the network.
 */
export async function openSharedLink(
  deps: Pick<Deps, 'linkBox' | 'keyCache' | 'throttle' | 'signals'>,
  token: string,
  network: string,
): Promise<OpenedLink> {
  const link = deps.linkBox && openLink(deps.linkBox, token, Date.now());
  const record = link && (await findRecord(deps, link.keyId));
  if (!link || record?.subject !== link.subject) throw await refuseToken(deps, network);
  const { subject, keyId, path } = link;
  return { holder: { keyId, subject, limits: effectiveLimits(record.overrides), scopes: record.scopes }, path };
}

async function refuseToken(
  { throttle, signals }: Pick<Deps, 'throttle' | 'signals'>,
  network: string,
): Promise<AppError> {
  const waitS = await throttle.failed(network);
  signals.refused(waitS === 0 ? 'link_invalid' : 'address_throttled');
  return waitS === 0 ? linkInvalid() : fail.rateLimited('too_many_invalid_keys', waitS);
}

export const linkInvalid = () => fail.notFound('The link is invalid or has expired.', 'link_invalid');
