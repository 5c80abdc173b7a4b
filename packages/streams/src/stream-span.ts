import { context, SpanKind, trace } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import type { StreamUrl } from './stream-url.ts';
import { inSpan } from '@vision/shared/telemetry/in-span';

/**
 * Runs what talks to an address that a stranger named. One span tells scheme and host; no library makes another below
 * it, since those carry the path and the query, where the keys of cameras stand, and would tell the stranger our ids.
 */
export function inStreamSpan<T>(
  name: string,
  { scheme, host }: Pick<StreamUrl, 'scheme' | 'host'>,
  work: () => Promise<T>,
): Promise<T> {
  const attributes = { 'url.scheme': scheme, 'server.address': host };
  const span = trace.getTracer('vision.streams').startSpan(name, { kind: SpanKind.CLIENT, attributes });
  return inSpan(span, suppressTracing(context.active()), work);
}
