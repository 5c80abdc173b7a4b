import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import { isTracingSuppressed, suppressTracing } from '@opentelemetry/core';
import { randomBytes } from 'node:crypto';

/** The W3C trace context as it is stored in a row. */
export interface StoredTrace {
  traceparent: string | null;
  tracestate: string | null;
}

/** The active trace context, for a row whose work goes on later. */
export function captureTrace(): StoredTrace {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return { traceparent: carrier['traceparent'] ?? null, tracestate: carrier['tracestate'] ?? null };
}

/** The context a row was written in; the root context when none is stored. */
export function storedContext(stored: StoredTrace): Context {
  if (!stored.traceparent) return ROOT_CONTEXT;
  const carrier: Record<string, string> = { traceparent: stored.traceparent };
  if (stored.tracestate) carrier['tracestate'] = stored.tracestate;
  return propagation.extract(ROOT_CONTEXT, carrier);
}

/**
 * Tells the next hop which trace and span it belongs to; and of work without spans, that none are wanted there either.
 * Told nothing, a service would begin a trace of its own for each round of a poller.
 */
export function addTraceHeaders(headers: Record<string, unknown>): void {
  if (isTracingSuppressed(context.active())) headers['traceparent'] = unrecorded();
  else propagation.inject(context.active(), headers);
}

const unrecorded = () => `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;

/** Continues the trace that is stored with a row: spans made in `fn` become its children. */
export function withStoredTrace<T>(stored: StoredTrace, fn: () => T): T {
  return context.with(storedContext(stored), fn);
}

/** Runs `fn` without spans: for polling, whose queries would bury the traces people look for. */
export function untraced<T>(fn: () => T): T {
  return context.with(suppressTracing(context.active()), fn);
}
