import type { ErrorRequestHandler, Request, Response } from 'express';
import { asAppError, fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { asUnavailable } from '../unavailable.ts';
import type { Logger } from '../logger.ts';
import { headersOfError, toProblem } from './problem.ts';
import { requestIdsOf } from './request-id.ts';
import { ClientGoneError, UpstreamTimeoutError } from '../upstream/ended-call.ts';
import { drain } from './drain.ts';
import { noteOutcome } from './server-span.ts';

/** Last link of the chain: turns every error into a problem document and one log line. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    if (error instanceof ClientGoneError) {
      logger.info({ method: req.method, path: req.path }, 'client disconnected before the response');
      res.destroy();
      return;
    }
    const shown = asAppError(error) ?? asLate(error) ?? asUnavailable(error) ?? asHttpFault(error) ?? fail.internal();
    noteOutcome(res, { code: shown.code, reason: shown.reason });
    log(logger, req, { error, shown });
    if (res.headersSent) {
      res.destroy();
      return;
    }
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

function log(logger: Logger, req: Request, { error, shown }: { error: unknown; shown: AppError }): void {
  const facts = { method: req.method, path: req.path, reason: shown.reason, code: shown.code };
  if (shown.kind === 'internal') logger.error({ ...facts, err: error }, 'request failed unexpectedly');
  else if (shown.kind === 'unavailable') logger.warn({ ...facts, err: shown.cause }, 'request not served');
  else logger.info(facts, 'request refused');
}

/** The service that asked has stopped waiting; it hears this only when its clock is behind. */
function asLate(error: unknown): AppError | undefined {
  const isLate = error instanceof UpstreamTimeoutError && error.errorType === 'deadline_exceeded';
  return isLate ? fail.sysUnavailable('deadline_exceeded', error) : undefined;
}

/** Faults that Express and its parsers raise for malformed requests (bad percent-encoding and the like). */
function asHttpFault(error: unknown): AppError | undefined {
  if (!(error instanceof Error)) return undefined;
  const status = (error as { status?: unknown }).status;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return Object.assign(fail.requestInvalid('request_malformed', 'The request is malformed.'), { cause: error });
}
