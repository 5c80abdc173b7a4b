import express from 'express';
import type { Express, RequestHandler } from 'express';
import { fail } from '@vision/contracts/errors';
import type { Logger } from '../logger.ts';
import { errorHandler } from './error-handler.ts';
import { requestId } from './request-id.ts';
import type { Route } from './route.ts';
import { namedSpan, noteCutAnswer } from './server-span.ts';

export interface AppOptions {
  routes: Route[];
  /** Authenticates the caller; runs before every route that is not `authenticated: false`. */
  authenticate: RequestHandler;
  /** Decides whether the caller may use this operation; runs after `authenticate`. */
  authorize?: ((operation: string) => RequestHandler) | undefined;
  logger: Logger;
  /** Runs after the request id and before everything else. */
  before?: RequestHandler[] | undefined;
}

/**
 * Assembles the HTTP application of a service: request id → authentication → authorization → route → 404/405 → problem
 * document. A path is matched as it is written: case and a trailing slash count.
 */
export function createApp({ routes, authenticate, authorize, logger, before = [] }: AppOptions): Express {
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', 'simple')
    .enable('case sensitive routing')
    .enable('strict routing');
  // With `If-None-Match: *`, Express would respond 304 although responses here have no versions.
  Object.defineProperty(app.request, 'fresh', { value: false });
  app.use(requestId, noteCutAnswer, noSniffing, ...before);
  app.use(ifMalformed(authenticate), ifMalformed(refuseMalformed));
  const guardsOf = (operation: string) => (authorize ? [authorize(operation)] : []);
  for (const { definition, handler } of routes) {
    const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1');
    const guards = definition.authenticated === false ? [] : [authenticate, ...guardsOf(definition.operation)];
    app[definition.method](path, namedSpan(definition), ...guards, handler);
  }
  for (const [path, methods] of methodsByPath(routes)) {
    app.all(path, authenticate, () => {
      throw fail.methodNotAllowed(methods);
    });
  }
  app.use(authenticate, () => {
    throw fail.notFound();
  });
  app.use(errorHandler(logger));
  return app;
}

/** A browser must not treat a response as another type than its Content-Type. */
const noSniffing: RequestHandler = (_req, res, next) => {
  res.set('X-Content-Type-Options', 'nosniff');
  next();
};

/**
 * Runs a handler only for paths that cannot be decoded: otherwise the router would refuse them before the
 * authentication of the caller.
 */
function ifMalformed(handler: RequestHandler): RequestHandler {
  return (req, res, next) => (isDecodable(req.path) ? next() : handler(req, res, next));
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

const refuseMalformed: RequestHandler = () => {
  throw fail.requestInvalid('path_malformed', 'The percent-encoding of the path is malformed.');
};

function methodsByPath(routes: Route[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { definition } of routes) {
    const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1');
    methods.set(path, [...(methods.get(path) ?? []), definition.method.toUpperCase()]);
  }
  return methods;
}
