import { createApp } from '@vision/shared/http/app';
import { healthListener } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import type { HttpServer } from '@vision/shared/http/server';
import type { Config } from './config.ts';
import { accessLog, named } from './http/access-log.ts';
import { adminRoutes } from './http/admin/routes.ts';
import { apiDocs } from './http/api-docs.ts';
import { answerMalformed } from './http/answer-malformed.ts';
import { admit } from './http/authenticate.ts';
import { admitOperator } from './http/authenticate-operator.ts';
import { oddHeadersRefused, refuseAmbiguousHead } from './http/refuse-odd-headers.ts';
import { publicRoutes } from './http/routes.ts';
import type { Deps } from './use-cases/deps.ts';

export interface Servers {
  /** For callers. */
  public: HttpServer;
  /** For operators. */
  admin: HttpServer;
  /** For whoever runs the process. */
  health: HttpServer;
}

/** The three listeners of the gateway, each on a port of its own. */
export function createServers(config: Config, deps: Deps): Servers {
  const { logger, signals, watch } = deps;
  const host = config.HOST;
  const publicApp = createApp({
    routes: publicRoutes(deps).map((route) => named(route)),
    authenticate: admit(deps),
    logger,
    before: [accessLog(signals), refuseAmbiguousHead, apiDocs],
  });
  const adminApp = createApp({
    routes: adminRoutes(deps).map((route) => named(route)),
    authenticate: admitOperator(deps, config.ADMIN_TOKEN),
    logger,
    before: [accessLog(signals), refuseAmbiguousHead, oddHeadersRefused],
  });
  const publicServer = createHttpServer(publicApp, { host, port: config.PORT, requireHostHeader: false });
  const adminServer = createHttpServer(adminApp, { host, port: config.ADMIN_PORT, requireHostHeader: false });
  for (const { server } of [publicServer, adminServer]) answerMalformed(server);
  const ready = () => watch.maintenance() !== undefined;
  return {
    public: publicServer,
    admin: adminServer,
    health: createHttpServer(healthListener({ ready }), { host, port: config.HEALTH_PORT }),
  };
}
