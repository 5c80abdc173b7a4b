import type { RequestHandler } from 'express';
import { fail } from '@vision/contracts/errors';
import { staticTokenCheck } from '@vision/shared/http/authenticate';
import type { Deps } from '../use-cases/deps.ts';
import { networkOfRequest } from './network-of-request.ts';

/**
 * Accepts the tokens of the admin API. A valid token always passes, so that no attacker can lock operators out; invalid
 * ones are counted by network, and refused as too many beyond an allowance.
 */
export function admitOperator(
  { adminThrottle, settings, signals }: Pick<Deps, 'adminThrottle' | 'settings' | 'signals'>,
  adminTokens: string[],
): RequestHandler {
  const isRight = staticTokenCheck(adminTokens);
  return async (req, _res, next) => {
    if (isRight(req.rawHeaders)) {
      next();
      return;
    }
    const network = networkOfRequest(req, settings);
    // A guess counts before any wait: concurrent guesses get no more responses than sequential ones.
    const isGuess = req.headers.authorization !== undefined;
    const waitS = await (isGuess ? adminThrottle.failed(network) : adminThrottle.waitS(network));
    if (waitS > 0) {
      signals.refused('operator_throttled');
      throw fail.rateLimited('too_many_invalid_tokens', waitS);
    }
    signals.refused('admin_token_invalid');
    throw fail.authRequired('token_invalid');
  };
}
