/** Spans as `otlp.proto` describes them, decoded: 64 bit numbers are text, absent fields are missing. */
export interface ExportRequest {
  resourceSpans?: { resource?: { attributes?: KeyValue[] }; scopeSpans?: { spans?: Span[] }[] }[];
}

interface KeyValue {
  key: string;
  value?: Record<string, string | number | boolean>;
}

interface Span {
  traceId: Buffer;
  spanId: Buffer;
  parentSpanId?: Buffer;
  name?: string;
  kind?: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: KeyValue[];
  events?: { timeUnixNano: string; name?: string }[];
  status?: { message?: string; code?: number };
}

/** OTLP's numbers 2 to 5; 1 is internal, for which Zipkin has no word. */
const kinds = [undefined, undefined, 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];

/** The same spans in Zipkin's JSON (version 2 of its API). */
export function toZipkin(request: ExportRequest) {
  return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const serviceName = tagsOf(resource?.attributes)['service.name'] ?? 'unknown';
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => zipkinSpan(span, serviceName)));
  });
}

function zipkinSpan(span: Span, serviceName: string) {
  const started = micros(span.startTimeUnixNano);
  return {
    traceId: span.traceId.toString('hex'),
    id: span.spanId.toString('hex'),
    ...(span.parentSpanId?.length ? { parentId: span.parentSpanId.toString('hex') } : {}),
    name: span.name ?? '',
    kind: kinds[span.kind ?? 0],
    timestamp: started,
    // Zipkin reads a duration of 0 as unknown.
    duration: Math.max(1, micros(span.endTimeUnixNano) - started),
    localEndpoint: { serviceName },
    annotations: (span.events ?? []).map((event) => ({
      timestamp: micros(event.timeUnixNano),
      value: event.name ?? '',
    })),
    tags: { ...tagsOf(span.attributes), ...(span.status?.code === 2 ? { error: span.status.message || 'true' } : {}) },
  };
}

function tagsOf(attributes: KeyValue[] = []): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value ?? {})[0] ?? '')]));
}

const micros = (nanos: string) => Number(BigInt(nanos) / 1000n);
