import type { RequestHandler } from 'express';
import type { Caller } from '@vision/shared/http/caller';
import type { Route } from '@vision/shared/http/route';
import { outcomeOfAnswer } from '@vision/shared/http/server-span';
import type { Signals } from '../signals.ts';

/**
 * Counts and logs every request once, when its response has ended or was cut. Excludes addresses and client headers.
 */
export function accessLog(signals: Signals): RequestHandler {
  return (_req, res, next) => {
    const startedAt = performance.now();
    res.once('close', () => {
      const { code, reason } = outcomeOfAnswer(res);
      signals.served({
        operation: String(res.locals['operation'] ?? 'none'),
        status: res.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
        keyId: res.locals['keyId'] as string | undefined,
        subject: (res.locals['caller'] as Caller | undefined)?.subject,
        requestId: String(res.getHeader('X-Request-Id') ?? ''),
        isCut: !res.writableFinished,
        code,
        reason,
      });
    });
    next();
  };
}

/** Sets the operation of a request for the access log. */
export function named({ definition, handler }: Route): Route {
  return {
    definition,
    handler: (req, res, next) => {
      res.locals['operation'] = definition.operation;
      return handler(req, res, next);
    },
  };
}
