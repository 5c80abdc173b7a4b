import { trace } from '@opentelemetry/api';
import type { RequestHandler } from 'express';
import { randomUUID } from 'node:crypto';

/** Takes a well-formed X-Request-Id of the previous hop or makes one; answers with it and with the trace id. */
export const requestId: RequestHandler = (req, res, next) => {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
  req.headers['x-request-id'] = id;
  res.setHeader('X-Request-Id', id);
  const span = trace.getActiveSpan();
  span?.setAttribute('app.request_id', id);
  if (span) res.setHeader('X-Trace-Id', span.spanContext().traceId);
  next();
};
