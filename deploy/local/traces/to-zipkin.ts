/**
 * Turns spans as OTLP writes them in JSON into those of Zipkin, which knows no links and no attributes of events: links
 * become tags with the address of the trace they lead to, events annotations with their attributes behind the name.
 */
export interface OtlpTraces {
  resourceSpans?: { resource?: { attributes?: KeyValue[] }; scopeSpans?: { spans?: OtlpSpan[] }[] }[];
}

interface KeyValue {
  key: string;
  value: AnyValue;
}

type AnyValue = Record<string, unknown> & { arrayValue?: { values?: AnyValue[] } };

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind?: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: KeyValue[];
  events?: { timeUnixNano: string; name: string; attributes?: KeyValue[] }[];
  links?: { traceId: string; spanId: string; attributes?: KeyValue[] }[];
  status?: { code?: number; message?: string };
}

export interface ZipkinSpan {
  traceId: string;
  id: string;
  parentId?: string;
  name: string;
  kind?: string;
  /** Microseconds. */
  timestamp: number;
  duration: number;
  localEndpoint: { serviceName: string };
  remoteEndpoint?: { serviceName: string };
  annotations: { timestamp: number; value: string }[];
  tags: Record<string, string>;
}

const KINDS: Record<number, string> = { 2: 'SERVER', 3: 'CLIENT', 4: 'PRODUCER', 5: 'CONSUMER' };
const STATUS_ERROR = 2;

/** `viewer`: where Zipkin shows traces, for the addresses in links. */
export function toZipkin({ resourceSpans = [] }: OtlpTraces, viewer: string): ZipkinSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const service = tagsOf(resource?.attributes)['service.name'] ?? 'unknown';
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => translated(span, service, viewer)));
  });
}

function translated(span: OtlpSpan, serviceName: string, viewer: string): ZipkinSpan {
  const timestamp = microseconds(span.startTimeUnixNano);
  const tags = { ...tagsOf(span.attributes), ...linkTags(span, viewer), ...errorTag(span) };
  const kind = KINDS[span.kind ?? 0];
  const upstream = tags['app.upstream.name'];
  return {
    traceId: span.traceId,
    id: span.spanId,
    name: span.name,
    timestamp,
    duration: Math.max(1, microseconds(span.endTimeUnixNano) - timestamp),
    localEndpoint: { serviceName },
    annotations: (span.events ?? []).map(({ timeUnixNano, name, attributes }) => ({
      timestamp: microseconds(timeUnixNano),
      value: attributes?.length ? `${name} ${JSON.stringify(tagsOf(attributes))}` : name,
    })),
    tags,
    ...(span.parentSpanId ? { parentId: span.parentSpanId } : {}),
    ...(kind ? { kind } : {}),
    ...(upstream ? { remoteEndpoint: { serviceName: upstream } } : {}),
  };
}

function linkTags({ links = [] }: OtlpSpan, viewer: string): Record<string, string> {
  const named = links.map(({ traceId, attributes }, index) => {
    const more = attributes?.length ? ` ${JSON.stringify(tagsOf(attributes))}` : '';
    return [`link.${index + 1}`, `${viewer}/traces/${traceId}${more}`] as const;
  });
  return Object.fromEntries(named);
}

/** What Zipkin draws a span red by. */
function errorTag({ status, attributes }: OtlpSpan): Record<string, string> {
  if (status?.code !== STATUS_ERROR) return {};
  return { error: tagsOf(attributes)['error.type'] ?? (status.message || 'failed') };
}

const tagsOf = (attributes: KeyValue[] = []): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, textOf(value)]));

/** A value has one member, named after its type. */
function textOf(value: AnyValue): string {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(textOf).join(', ');
  const [plain = ''] = Object.values(value);
  return typeof plain === 'string' ? plain : JSON.stringify(plain);
}

const microseconds = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1000n);
