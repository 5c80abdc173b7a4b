import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span } from '@opentelemetry/api';

/**
 * Runs `work` with the span active, and ends the span with it. `error.type` names the failure in one word: the
 * reason that our errors have, else the name of the error. Messages are left out: they may quote what was sent.
 */
export async function inSpan<T>(span: Span, base: Context, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(base, span), work);
  } catch (error) {
    span.setAttribute('error.type', wordFor(error)).setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** Runs a part of a request in a span, so that a trace shows where the time went. */
export function inNamedSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
  return inSpan(trace.getTracer('vision.work').startSpan(name), context.active(), work);
}

function wordFor(error: unknown): string {
  const { reason, fault, name } = Object(error) as { reason?: unknown; fault?: unknown; name?: unknown };
  return (
    ([reason, fault, name].find((word) => typeof word === 'string' && word !== '') as string | undefined) ?? 'failed'
  );
}
