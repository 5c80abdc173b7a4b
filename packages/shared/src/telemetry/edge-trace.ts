import { isSpanContextValid, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Span, TextMapPropagator } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';

type Headers = Record<string, string | string[] | undefined>;

const w3c = new W3CTraceContextPropagator();

/**
 * Tells the next hop which trace it belongs to, and believes nothing the outside says about it
 * (ids, sampling, baggage).
 */
export const edgePropagator: TextMapPropagator = {
  inject: (context, carrier, setter) => w3c.inject(context, carrier, setter),
  extract: (context) => context,
  fields: () => w3c.fields(),
};

/** Links a trace that starts here with the one the client named, so that both can be found from either side. */
export function linkOutsideTrace(span: Span, headers: Headers): void {
  const outside = trace.getSpanContext(
    w3c.extract(ROOT_CONTEXT, headers, {
      get: (carrier: Headers, key) => carrier[key],
      keys: (carrier: Headers) => Object.keys(carrier),
    }),
  );
  if (outside && isSpanContextValid(outside)) span.addLink({ context: outside });
}
