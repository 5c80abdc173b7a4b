import type { Request, Response } from 'express';
import { bearerToken } from '@vision/shared/http/authenticate';
import { isKeyInForce } from '../use-cases/authenticate-key.ts';
import type { Deps } from '../use-cases/deps.ts';

export type KeyEndDeps = Pick<Deps, 'keyCache' | 'peppers' | 'signals' | 'streams'> & {
  settings: Pick<Deps['settings'], 'keyCheckMs'>;
};

/**
 * A signal that ends a stream when its key is no longer valid, or cannot be checked. The key is checked as often as the
 * cache queries the database, so a revoked key ends streams as soon as it ends requests.
 */
export function untilKeyEnds(deps: KeyEndDeps, req: Request, res: Response): AbortSignal {
  const ending = new AbortController();
  const presented = bearerToken(req.rawHeaders) ?? '';
  const check = async () => {
    if (!(await isKeyInForce(deps, presented))) ending.abort();
  };
  const timer = setInterval(() => void check(), deps.settings.keyCheckMs);
  const ended = deps.streams.begin(res);
  res.once('close', () => clearInterval(timer));
  return AbortSignal.any([ending.signal, ended]);
}
