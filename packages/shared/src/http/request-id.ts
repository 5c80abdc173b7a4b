import { trace } from '@opentelemetry/api';
import type { RequestHandler, Response } from 'express';
import { randomBytes, randomUUID } from 'node:crypto';
import type { RequestIds } from './problem.ts';

/** Takes a well-formed X-Request-Id of the previous hop or makes one; every answer carries it and the trace id. */
export const requestId: RequestHandler = (req, res, next) => {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
  req.headers['x-request-id'] = id;
  const span = trace.getActiveSpan();
  span?.setAttribute('app.request_id', id);
  res.set({ 'X-Request-Id': id, 'X-Trace-Id': span?.spanContext().traceId ?? newTraceId() });
  next();
};

/** The ids that an answer names its request by. */
export function requestIdsOf(res: Response): RequestIds {
  return { requestId: String(res.getHeader('X-Request-Id')), traceId: String(res.getHeader('X-Trace-Id')) };
}

/** A trace id for a request that no trace was begun for, so that it can be named all the same. */
export const newTraceId = (): string => randomBytes(16).toString('hex');
