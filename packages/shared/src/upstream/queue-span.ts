import { SpanStatusCode, trace } from '@opentelemetry/api';
import { GateFullError } from '../async/gate.ts';
import type { Gate, Turn } from '../async/gate.ts';
import { endOf, UpstreamTimeoutError } from './ended-call.ts';
import { isQuiet } from './error-type.ts';
import type { CallOutcome } from './error-type.ts';

/**
 * Runs work when its turn has come, and tells the wait as a span of its own, so that a trace shows whether time went by
 * in a line or in the work. A wait that the time of its request ended is a `queue_timeout`.
 */
export async function runInTurn<T>(gate: Gate, queue: string, work: () => Promise<T>, turn: Turn = {}): Promise<T> {
  const span = trace
    .getTracer('vision.queues')
    .startSpan(`wait for ${queue}`, { attributes: { 'app.queue.name': queue } });
  const startedAt = performance.now();
  const progress = { hasBegun: false };
  const finish = (outcome: CallOutcome, limitMs?: number) => {
    span.setAttributes({ 'app.queue.wait_ms': Math.round(performance.now() - startedAt), 'app.call.outcome': outcome });
    if (limitMs !== undefined) span.setAttribute('app.timeout.limit_ms', limitMs);
    if (outcome !== 'ok' && !isQuiet(outcome)) {
      span.setAttribute('error.type', outcome).setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  };
  const begin = () => {
    progress.hasBegun = true;
    finish('ok');
    return work();
  };
  try {
    return await gate.run(begin, turn);
  } catch (error) {
    if (!progress.hasBegun) {
      const reason: unknown = turn.signal?.aborted ? turn.signal.reason : undefined;
      if (error instanceof GateFullError) finish('saturated');
      else if (reason instanceof UpstreamTimeoutError) finish('queue_timeout', reason.limitMs);
      else finish(turn.signal?.aborted ? endOf(turn.signal) : 'failed');
    }
    throw error;
  }
}
