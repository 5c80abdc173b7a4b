import type { RequestHandler } from 'express';
import { mayCall } from '@vision/contracts/allowed-calls';
import type { Callee } from '@vision/contracts/allowed-calls';
import { scopeOf } from '@vision/contracts/public-operations';
import { lackingScope } from '@vision/contracts/scopes';
import { fail } from '@vision/contracts/errors';
import type { Logger } from '../logger.ts';
import type { PublicKey } from '../service-keys.ts';
import { createCounter } from '../telemetry/instruments.ts';
import { accessMetrics } from '../telemetry/shared-metrics.ts';
import { bearerToken } from './authenticate.ts';
import { createTokenVerifier, TokenError } from './service-token.ts';
import type { ServiceCaller } from './service-token.ts';

export interface ServiceAccess {
  /** Proves which service calls; puts the caller into `res.locals.caller` and sets `isServiceCall`. */
  authenticate: RequestHandler;
  /** Lets those pass who may call this operation. */
  authorize: (operation: string) => RequestHandler;
}

export interface ServiceAccessOptions {
  /** The service that is called. */
  callee: Callee;
  publicKeys: PublicKey[];
  logger: Logger;
}

/** Accepts calls of our services, each with a token for this one and only where it may call. */
export function createServiceAccess({ callee, publicKeys, logger }: ServiceAccessOptions): ServiceAccess {
  const verifier = createTokenVerifier(callee, publicKeys);
  const signals = createSignals(logger);
  return {
    authenticate: async (req, res, next) => {
      const token = bearerToken(req.rawHeaders);
      if (token === undefined) {
        signals.tokenRefused('missing');
        throw fail.authRequired('service_token_missing');
      }
      try {
        res.locals['caller'] = await verifier.verify(token);
      } catch (error) {
        signals.tokenRefused(error instanceof TokenError ? error.fault : 'malformed');
        throw fail.authRequired('service_token_invalid');
      }
      res.locals['isServiceCall'] = true;
      next();
    },
    authorize: (operation) => (_req, res, next) => {
      const { issuer, scopes } = res.locals['caller'] as ServiceCaller;
      if (!mayCall(issuer, callee, operation)) {
        signals.callForbidden(issuer, operation);
        throw fail.forbidden('call_not_allowed', 'This service may not call this operation.');
      }
      const required = scopeOf(operation);
      const lacking = required && lackingScope(scopes, required);
      if (lacking) throw fail.scopeMissing(lacking);
      next();
    },
  };
}

function createSignals(logger: Logger) {
  const refusals = createCounter(accessMetrics.refusals);
  const nobody = { caller: '', operation: '' };
  // A counter that first appears with its first event shows no increase.
  for (const reason of ['missing', 'forbidden']) refusals.add(0, { reason, ...nobody });
  return {
    tokenRefused: (reason: string) => {
      refusals.add(1, { reason, ...nobody });
      logger.warn({ reason }, 'a token between services was refused');
    },
    callForbidden: (caller: string, operation: string) => {
      refusals.add(1, { reason: 'forbidden', caller, operation });
      logger.error({ caller, operation }, 'service call forbidden');
    },
  };
}
