import { ConfigError } from '@vision/shared/config';
import { fail } from '@vision/contracts/errors';
import { staticTokenCheck } from '@vision/shared/http/authenticate';
import { createServiceAccess } from '@vision/shared/http/service-access';
import type { ServiceAccess } from '@vision/shared/http/service-access';
import type { Logger } from '@vision/shared/logger';
import type { Config } from './config.ts';

type Handler = ServiceAccess['authenticate'];
type AccessConfig = Pick<Config, 'SERVICE_PUBLIC_KEYS' | 'INFERENCE_TOKEN' | 'DEVELOPMENT_WITHOUT_TOKEN'>;

/**
 * Allowed callers: our services, each for its own operations; clients with a static token, for all; and all clients
 * when a setting for development says so.
 * @throws ConfigError when no caller would be allowed.
 */
export function createAccess(config: AccessConfig, logger: Logger): ServiceAccess {
  const { SERVICE_PUBLIC_KEYS: publicKeys, INFERENCE_TOKEN: tokens } = config;
  if (config.DEVELOPMENT_WITHOUT_TOKEN) {
    logger.warn('callers need no token; for development only');
    return { authenticate: pass, authorize: () => pass };
  }
  if (publicKeys === undefined && tokens === undefined)
    throw new ConfigError(
      'Callers need a token: set SERVICE_PUBLIC_KEYS or INFERENCE_TOKEN, or DEVELOPMENT_WITHOUT_TOKEN for development',
    );
  const services = publicKeys ? createServiceAccess({ callee: 'inference', publicKeys, logger }) : nobody;
  return tokens === undefined ? services : withStaticTokens(services, tokens);
}

const pass: Handler = (_req, _res, next) => next();

const nobody: ServiceAccess = {
  authenticate: () => {
    throw fail.authRequired('token_invalid');
  },
  authorize: () => pass,
};

function withStaticTokens(services: ServiceAccess, tokens: string[]): ServiceAccess {
  const isStatic = staticTokenCheck(tokens);
  const unlessStatic =
    (handler: Handler): Handler =>
    (req, res, next) =>
      isStatic(req.rawHeaders) ? next() : handler(req, res, next);
  return {
    authenticate: unlessStatic(services.authenticate),
    authorize: (operation) => unlessStatic(services.authorize(operation)),
  };
}
