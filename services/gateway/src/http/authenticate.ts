import type { Request, RequestHandler, Response } from 'express';
import { fail } from '@vision/contracts/errors';
import { bearerToken } from '@vision/shared/http/authenticate';
import { policyHeader, standingHeader } from '../domain/rate-headers.ts';
import type { Policy, Standing } from '../domain/rate-headers.ts';
import { authenticateKey } from '../use-cases/authenticate-key.ts';
import type { KeyHolder } from '../use-cases/authenticate-key.ts';
import type { Deps } from '../use-cases/deps.ts';
import { networkOfRequest } from './network-of-request.ts';
import { refuseOddHeaders } from './refuse-odd-headers.ts';

export type AdmissionDeps = Pick<
  Deps,
  'keyCache' | 'keyUse' | 'limiter' | 'peppers' | 'settings' | 'signals' | 'throttle' | 'watch'
>;

/** Key, then rate limit: every request with a key passes here, whether the address exists or not. */
export function admit(deps: AdmissionDeps): RequestHandler {
  return async (req, res, next) => {
    const holder = await holderOf(deps, req);
    res.locals['keyId'] = holder.keyId;
    const maintenance = deps.watch.maintenance();
    res.locals['caller'] = {
      subject: holder.subject,
      issuer: 'gateway',
      keyId: holder.keyId,
      limits: holder.limits,
      scopes: holder.scopes,
      snapshots: holder.snapshots ?? deps.settings.snapshotsDefault,
      maintenance: maintenance?.enabled ? { reason: maintenance.reason } : undefined,
    };
    await takeToken(deps, holder, res);
    refuseOddHeaders(req);
    next();
  };
}

async function holderOf(deps: AdmissionDeps, req: Request): Promise<KeyHolder> {
  const presented = bearerToken(req.rawHeaders);
  if (presented === undefined) {
    const reason = req.headers.authorization === undefined ? 'api_key_missing' : 'api_key_invalid';
    deps.signals.refused(reason);
    throw fail.authRequired(reason);
  }
  return authenticateKey(deps, presented, networkOfRequest(req, deps.settings));
}

/** Takes one request from the rate limit of the subject. @throws AppError OP-QUOTA-RATE-LIMITED `rate_exceeded`. */
export async function takeToken(
  { limiter, signals }: Pick<Deps, 'limiter' | 'signals'>,
  { subject, limits }: KeyHolder,
  res: Response,
) {
  const { isAllowed, remaining, waitMs } = await limiter.take(subject, limits);
  const waitS = Math.max(1, Math.ceil(waitMs / 1000));
  const windowS = Math.max(1, Math.ceil(limits.burst / limits.requests_per_second));
  addLimit(res, { name: 'requests', quota: limits.burst, windowS }, { name: 'requests', remaining, resetS: waitS });
  signals.limitDecided('requests', isAllowed ? 'allowed' : 'refused', subject);
  if (!isAllowed) throw fail.rateLimited('rate_exceeded', waitS, { limit: 'requests' });
}

/** Removes the RateLimit headers from this response. */
export function hideLimits(res: Response): void {
  res.locals['hidesLimits'] = true;
}

/** Adds one limit to the RateLimit headers of the response. */
export function addLimit(res: Response, policy: Policy, standing: Standing): void {
  if (res.locals['hidesLimits'] === true) return;
  const limits = (res.locals['limits'] ??= []) as { policy: Policy; standing: Standing }[];
  limits.push({ policy, standing });
  res.setHeader('RateLimit-Policy', policyHeader(limits.map((entry) => entry.policy)));
  res.setHeader('RateLimit', standingHeader(limits.map((entry) => entry.standing)));
}
