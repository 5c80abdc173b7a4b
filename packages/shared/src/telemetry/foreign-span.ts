import { context, SpanKind, trace } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import { inSpan } from './in-span.ts';

/** Where a call to an address of a stranger goes. */
export interface ForeignAddress {
  scheme: string;
  host: string;
}

/** The span of a call to an address that a stranger named. `tracer` says which part of the service makes it. */
export interface ForeignCall {
  tracer: string;
  name: string;
}

/**
 * Runs what talks to an address that a stranger named. One span tells scheme and host; no library makes another below
 * it, since those carry the path and the query, where keys often stand, and would tell the stranger our ids.
 */
export function inForeignSpan<T>(
  { tracer, name }: ForeignCall,
  { scheme, host }: ForeignAddress,
  work: () => Promise<T>,
): Promise<T> {
  const attributes = { 'url.scheme': scheme, 'server.address': host };
  const span = trace.getTracer(tracer).startSpan(name, { kind: SpanKind.CLIENT, attributes });
  return inSpan(span, suppressTracing(context.active()), work);
}
