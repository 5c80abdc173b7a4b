import type { RequestHandler } from 'express';
import { fail } from '@vision/shared/errors';
import { staticTokenCheck } from '@vision/shared/http/authenticate';
import type { Deps } from '../use-cases/deps.ts';
import { networkOfRequest } from './network-of-request.ts';

/**
 * Accepts the tokens of the admin API. Unlike a key one may be short enough to be found, so a network with too many
 * wrong ones has to wait, also with a right one.
 */
export function admitOperator(
  { adminThrottle, settings, signals }: Pick<Deps, 'adminThrottle' | 'settings' | 'signals'>,
  adminTokens: string[],
): RequestHandler {
  const isRight = staticTokenCheck(adminTokens);
  return async (req, _res, next) => {
    const network = networkOfRequest(req, settings);
    const isAccepted = isRight(req.rawHeaders);
    const isGuess = !isAccepted && req.headers.authorization !== undefined;
    // A guess counts before anything is waited for: many that arrive together get no more answers than one by one.
    const waitS = await (isGuess ? adminThrottle.failed(network) : adminThrottle.waitS(network));
    if (waitS > 0) {
      signals.refused('operator_throttled');
      throw fail.rateLimited('too_many_invalid_tokens', waitS);
    }
    if (!isAccepted) {
      signals.refused('admin_token_invalid');
      throw fail.authRequired('token_invalid');
    }
    next();
  };
}
