import { trace } from '@opentelemetry/api';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { asAppError, fail } from '../errors.ts';
import type { AppError } from '../errors.ts';
import { asUnavailable } from '../unavailable.ts';
import type { Logger } from '../logger.ts';
import { headersOfError, toProblem } from './problem.ts';
import { refusalHeader, refusalText, tellRefusal } from './refusal.ts';
import { requestIdsOf } from './request-id.ts';
import { ClientGoneError } from './route.ts';
import { drain } from './drain.ts';

/**
 * Last link of the chain: turns whatever was thrown into a problem document and one log line. A service inside also
 * tells the one before it in a header why it refused.
 */
export function errorHandler(logger: Logger, isInside: boolean): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    if (error instanceof ClientGoneError) {
      logger.info({ method: req.method, path: req.path }, 'the caller left before the answer');
      res.destroy();
      return;
    }
    const shown = asAppError(error) ?? asUnavailable(error) ?? asHttpFault(error) ?? fail.internal();
    note(logger, req, { error, shown });
    tellRefusal(res, shown);
    if (res.headersSent) {
      res.destroy();
      return;
    }
    if (isInside) res.set(refusalHeader, refusalText(shown));
    answer(req, res, shown);
  };
}

/**
 * Sends the problem at once, then drains what is left of the request body, so the client reads an answer, not a reset.
 */
function answer(req: Request, res: Response, error: AppError): void {
  const problem = toProblem(error, requestIdsOf(res));
  const body = Buffer.from(JSON.stringify(problem));
  res
    .status(problem.status)
    .set(headersOfError(error))
    .set({
      'Content-Type': 'application/problem+json',
      'Content-Length': String(body.length),
    });
  if (req.complete || req.method === 'HEAD') {
    res.end(req.method === 'HEAD' ? undefined : body);
    return;
  }
  res.set('Connection', 'close');
  res.write(body);
  drain(req, () => res.end());
}

function note(logger: Logger, req: Request, { error, shown }: { error: unknown; shown: AppError }): void {
  trace.getActiveSpan()?.setAttribute('app.error.code', shown.code ?? shown.reason);
  const facts = { method: req.method, path: req.path, reason: shown.reason, code: shown.code };
  if (shown.kind === 'internal') logger.error({ ...facts, err: error }, 'request failed unexpectedly');
  else if (shown.kind === 'unavailable') logger.warn({ ...facts, err: shown.cause }, 'request not served');
  else logger.info(facts, 'request refused');
}

/** Faults that Express and its parsers raise for malformed requests (bad percent-encoding and the like). */
function asHttpFault(error: unknown): AppError | undefined {
  if (!(error instanceof Error)) return undefined;
  const status = (error as { status?: unknown }).status;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return Object.assign(fail.requestInvalid('request_malformed', 'The request is malformed.'), { cause: error });
}
