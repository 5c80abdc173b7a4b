import type { RequestListener, Server } from 'node:http';
import type { RequestHandler } from 'express';
import { createApp } from '@vision/shared/http/app';
import { createHealth } from '@vision/shared/http/health';
import type { Health } from '@vision/shared/http/health';
import { createHttpServer } from '@vision/shared/http/server';
import type { HttpServer } from '@vision/shared/http/server';
import type { StartCheck } from '@vision/shared/start/start-checks';
import type { Config } from './config.ts';
import { accessLog, named } from './http/access-log.ts';
import { adminRoutes } from './http/admin/routes.ts';
import { apiDocs } from './http/api-docs.ts';
import { answerMalformed } from './http/answer-malformed.ts';
import { admit } from './http/authenticate.ts';
import { admitOperator } from './http/authenticate-operator.ts';
import { consoleFiles } from './http/console.ts';
import { consoleSession } from './http/console-session.ts';
import { oneAtATime } from './http/one-at-a-time.ts';
import { oddHeadersRefused, refuseAmbiguousHead } from './http/refuse-odd-headers.ts';
import { requireScope } from './http/require-scope.ts';
import { publicRoutes } from './http/routes.ts';
import { watchConnections } from './http/watch-connections.ts';
import type { Deps } from './use-cases/deps.ts';

export interface Servers {
  /** For callers. */
  public: HttpServer;
  /** For operators. */
  admin: HttpServer;
  /** For the code that runs the process. */
  health: Health;
}

/** The three listeners of the gateway, each on a port of its own. */
export function createServers(config: Config, deps: Deps, checks: StartCheck[]): Servers {
  const { logger, signals, watch } = deps;
  const host = config.HOST;
  const publicApp = createApp({
    routes: publicRoutes(deps).map((route) => named(route)),
    authenticate: admit(deps),
    authorize: requireScope,
    logger,
    before: [accessLog(signals), refuseAmbiguousHead, apiDocs, ...consoleOf(config, deps)],
  });
  const adminApp = createApp({
    routes: adminRoutes(deps).map((route) => named(route)),
    authenticate: admitOperator(deps, config.ADMIN_TOKEN),
    logger,
    before: [accessLog(signals), refuseAmbiguousHead, oddHeadersRefused],
  });
  const { HEAD_TIMEOUT_MS: headTimeoutMs, KEEP_ALIVE_MS: keepAliveMs } = config;
  const outside = { host, requireHostHeader: false, headTimeoutMs, keepAliveMs };
  const publicServer = createHttpServer(inTurn(publicApp, 'public', signals), { ...outside, port: config.PORT });
  const adminServer = createHttpServer(inTurn(adminApp, 'admin', signals), { ...outside, port: config.ADMIN_PORT });
  guard(publicServer.server, 'public', { config, deps });
  guard(adminServer.server, 'admin', { config, deps });
  const ready = () => watch.maintenance() !== undefined;
  return {
    public: publicServer,
    admin: adminServer,
    health: createHealth({
      host,
      port: config.HEALTH_PORT,
      logger,
      checks,
      ready,
      listeners: [publicServer, adminServer],
    }),
  };
}

/** For the public listener only, if enabled. */
function consoleOf({ CONSOLE: isServed, CONSOLE_DIR: folder }: Config, deps: Deps): RequestHandler[] {
  if (!isServed) return [];
  return deps.consoleCodes ? [consoleFiles(folder), consoleSession(deps)] : [consoleFiles(folder)];
}

type Listener = 'public' | 'admin';

function inTurn(listener: RequestListener, name: Listener, signals: Deps['signals']): RequestListener {
  return oneAtATime(listener, (socket) => {
    signals.connectionCut(name, 'too_many_pipelined');
    socket.resetAndDestroy();
  });
}

/** Limits of every listener that is exposed to untrusted clients. */
function guard(server: Server, name: Listener, { config, deps }: { config: Config; deps: Deps }): void {
  answerMalformed(server);
  watchConnections(server, {
    perClient: config.MAX_CONNECTIONS_PER_CLIENT,
    minBytesPerS: config.MIN_CLIENT_BYTES_PER_S,
    windowMs: config.CLIENT_PACE_WINDOW_MS,
    bodyMs: config.BODY_TIMEOUT_MS,
    answerMs: config.ANSWER_TIMEOUT_MS,
    isTrustedProxy: deps.settings.isTrustedProxy,
    onCut: (reason) => deps.signals.connectionCut(name, reason),
  });
}
