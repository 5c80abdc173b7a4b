import { context, isSpanContextValid, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Attributes, Context } from '@opentelemetry/api';
import { inSpan } from '@vision/shared/telemetry/in-span';
import { storedContext, untraced } from '@vision/shared/telemetry/trace-context';
import type { StoredTrace } from '@vision/shared/telemetry/trace-context';

// Spans begin in the root context: pollers take work up in one that records nothing.
const tracer = () => trace.getTracer('vision.work');

/**
 * Runs work that may last for days in a trace of its own, which links to the trace that is stored with the row. That
 * trace gets a short span "… begins", which links here and can be seen while the work goes on.
 */
export function inLinkedTrace<T>(
  name: string,
  { origin, attributes }: { origin: StoredTrace; attributes: Attributes },
  work: () => Promise<T>,
): Promise<T> {
  const asked = storedContext(origin);
  const span = tracer().startSpan(name, { attributes, links: linksTo(asked) }, ROOT_CONTEXT);
  const links = [{ context: span.spanContext() }];
  if (origin.traceparent) tracer().startSpan(`${name} begins`, { attributes, links }, asked).end();
  return inSpan(span, ROOT_CONTEXT, work);
}

/** One round of repeated work is recorded in so long. */
const RECORD_EVERY_MS = 60_000;

/**
 * For work that repeats for as long as something bigger runs. One round in a while is recorded, in a trace of its own
 * that links to the active one; the others are in none. So no trace grows without end.
 */
export function createSparseTrace(name: string): <T>(work: () => Promise<T>) => Promise<T> {
  let dueAt = 0;
  return (work) => {
    if (performance.now() < dueAt) return untraced(work);
    dueAt = performance.now() + RECORD_EVERY_MS;
    const span = tracer().startSpan(name, { links: linksTo(context.active()) }, ROOT_CONTEXT);
    return inSpan(span, ROOT_CONTEXT, work);
  };
}

function linksTo(other: Context) {
  const found = trace.getSpanContext(other);
  return found && isSpanContextValid(found) ? [{ context: found }] : [];
}
