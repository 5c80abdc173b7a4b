import { context, trace } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import { getRPCMetadata, RPCType } from '@opentelemetry/core';
import type { RequestHandler, Response } from 'express';
import { outcomeHeader, outcomeText } from '@vision/contracts/outcome';
import type { Outcome } from '@vision/contracts/outcome';

/** The server span of the current request, also inside nested spans. */
function serverSpan(): Span | undefined {
  const served = getRPCMetadata(context.active());
  return served?.type === RPCType.HTTP ? served.span : trace.getActiveSpan();
}

/** Names the span of a request after its route. */
export function namedSpan({ path, operation }: { path: string; operation: string }): RequestHandler {
  return (_req, _res, next) => {
    const served = getRPCMetadata(context.active());
    if (served?.type === RPCType.HTTP) served.route = path;
    serverSpan()?.setAttribute('app.operation', operation);
    next();
  };
}

/** Notes on the span that the answer did not reach the client entirely: its status was never seen. */
export const noteCutAnswer: RequestHandler = (_req, res, next) => {
  const span = serverSpan();
  // Before the listener that ends the span, which was there first.
  res.prependOnceListener('close', () => {
    if (!res.writableFinished) span?.setAttribute('app.answer.is_cut', true);
  });
  next();
};

/** Sets the outcome of the request on the span, and in the header of a service that asks for it. */
export function noteOutcome(res: Response, told: Outcome): void {
  res.locals['outcome'] = told;
  const span = serverSpan();
  if (span?.isRecording()) span.setAttributes(attributesOf(told));
  if (isOutcomeWanted(res) && !res.headersSent) res.set(outcomeHeader, outcomeText(told));
}

const isOutcomeWanted = ({ locals, req }: Response) =>
  locals['isServiceCall'] === true && req.headers[outcomeHeader] !== undefined;

/** What was noted of a request so far. */
export const outcomeOfAnswer = (res: Response): Outcome => (res.locals['outcome'] as Outcome | undefined) ?? {};

function attributesOf(told: Outcome) {
  const { code, reason, task_status, images_succeeded, images_failed, replayed } = told;
  return {
    ...(code !== undefined && { 'app.error.code': code }),
    ...(reason !== undefined && { 'app.error.reason': reason }),
    ...(task_status !== undefined && { 'app.task.status': task_status }),
    ...(images_succeeded !== undefined && { 'app.images.succeeded': images_succeeded }),
    ...(images_failed !== undefined && { 'app.images.failed': images_failed }),
    ...(replayed !== undefined && { 'app.replayed': replayed }),
  };
}
