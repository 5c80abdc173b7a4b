/** A span as it was exported; times in milliseconds. */
export interface Span {
  traceId: string;
  id: string;
  parentId: string | undefined;
  service: string;
  name: string;
  startMs: number;
  endMs: number;
  attributes: Readonly<Record<string, Plain>>;
}

type Plain = string | number | boolean | undefined;

interface Value {
  stringValue?: string;
  intValue?: string | number;
  doubleValue?: number;
  boolValue?: boolean;
}

type KeyValues = { key: string; value: Value }[];

/** An export of spans by OTLP in JSON, as far as it is read here. */
interface TracesExport {
  resourceSpans?: {
    resource?: { attributes?: KeyValues };
    scopeSpans?: { spans?: ExportedSpan[] }[];
  }[];
}

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: KeyValues;
}

/** The spans of one export. */
export function spansOf(exported: unknown): Span[] {
  return ((exported as TracesExport).resourceSpans ?? []).flatMap(({ resource, scopeSpans = [] }) => {
    const service = String(plain(resource?.attributes)['service.name'] ?? '');
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => spanOf(span, service)));
  });
}

function spanOf(span: ExportedSpan, service: string): Span {
  return {
    traceId: span.traceId,
    id: span.spanId,
    parentId: span.parentSpanId || undefined,
    service,
    name: span.name,
    startMs: millisOf(span.startTimeUnixNano),
    endMs: millisOf(span.endTimeUnixNano),
    attributes: plain(span.attributes),
  };
}

/** Nanoseconds since 1970 are more than a number holds exactly. */
const millisOf = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000n) / 1_000;

function plain(attributes: KeyValues = []): Record<string, Plain> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, doubleValue, boolValue }: Value): Plain {
  if (intValue !== undefined) return Number(intValue);
  return stringValue ?? doubleValue ?? boolValue;
}

/** What a span of a call to an upstream says; undefined for other spans. */
export interface Call {
  upstream: string;
  operation: string;
  /** `ok`, or what went wrong. */
  outcome: string;
  /** Whether the other side, or the way to it, is at fault. */
  isError: boolean;
  limitMs: number | undefined;
  spentMs: number;
  deadlineLeftMs: number | undefined;
  attempt: number | undefined;
  attempts: number | undefined;
  breaker: string | undefined;
  bytesSent: number | undefined;
}

export function callOf({ attributes }: Span): Call | undefined {
  const upstream = attributes['app.upstream.name'];
  if (typeof upstream !== 'string') return undefined;
  const text = (name: string) => (attributes[name] === undefined ? undefined : String(attributes[name]));
  const number = (name: string) => (attributes[name] === undefined ? undefined : Number(attributes[name]));
  return {
    upstream,
    operation: text('app.upstream.operation') ?? '',
    outcome: text('error.type') ?? text('app.call.outcome') ?? '',
    isError: attributes['error.type'] !== undefined,
    limitMs: number('app.timeout.limit_ms'),
    spentMs: number('app.upstream.spent_ms') ?? 0,
    deadlineLeftMs: number('app.deadline.left_ms'),
    attempt: number('app.attempt'),
    attempts: number('app.attempts'),
    breaker: text('app.breaker.state'),
    bytesSent: number('app.bytes_sent'),
  };
}
