import { context, INVALID_SPAN_CONTEXT, isSpanContextValid, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import { limitOf, outcomeOf } from './classify.ts';
import { activeDeadline } from './deadline.ts';
import { isQuiet } from './error-type.ts';
import type { CallOutcome } from './error-type.ts';
import { rememberFacts } from './upstream-facts.ts';
import type { UpstreamFacts } from './upstream-facts.ts';
import { recordCall } from './upstream-metrics.ts';

/** Upstreams that our services call. */
export type UpstreamName =
  | 'gateway'
  | 'tasks'
  | 'images'
  | 'results'
  | 'quota'
  | 'notify'
  | 'inference'
  | 'triton'
  | 's3'
  | 'sts'
  | 'oauth'
  | 'postgres'
  | 'redis'
  | 'kafka';

export interface UpstreamCallOptions {
  upstream: UpstreamName;
  /** Name of the operation: a small fixed set, never an id. */
  operation: string;
  /** The limit that ends the call, in milliseconds. */
  limitMs?: number | undefined;
  /** The limit of all calls of this kind, where this one has less. */
  usualLimitMs?: number | undefined;
  /** Number of this attempt, and the maximum. */
  attempt?: { number: number; of: number } | undefined;
  breakerState?: string | undefined;
  /** Creates a span only as part of a trace; for calls that background jobs make too. */
  isPartOfTrace?: boolean | undefined;
  /** Further attributes of the semantic conventions; no text from outside. */
  attributes?: Attributes | undefined;
}

/** Facts of a running call. */
export interface UpstreamCall {
  /** Counts bytes of the request that were sent; a function is called when the call ends. */
  sent: (bytes: number | (() => number)) => void;
  /** The status of an HTTP response; 5xx counts as a failure of the other side, however the caller handles it. */
  answered: (status: number) => void;
  /** Outcome of the call, if it throws no error and the status does not show it; and the limit that ended it. */
  ended: (word: CallOutcome, limitMs?: number) => void;
}

const tracer = () => trace.getTracer('vision.upstream');

/**
 * The one way to call an upstream: one span with the upstream, the limit and the outcome; one measurement; and the same
 * facts on a thrown error, for the log line. A client that disconnected and a cancel of our own are no errors.
 */
export async function callUpstream<T>(
  options: UpstreamCallOptions,
  work: (call: UpstreamCall) => Promise<T>,
): Promise<T> {
  const { upstream, operation } = options;
  const span = startSpan(options);
  const startedAt = performance.now();
  const seen: Seen = { limitMs: options.limitMs, bytes: [], status: undefined, word: undefined };
  const finish = (outcome: CallOutcome, error?: unknown) => {
    const spentMs = performance.now() - startedAt;
    if (span.isRecording()) span.setAttributes(closingAttributes(seen, outcome, spentMs));
    if (outcome !== 'ok' && !isQuiet(outcome) && outcome !== 'answered_4xx') {
      span.setAttribute('error.type', outcome).setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
    // The limit of this kind of call is neither the rest of a deadline nor the limit of one phase.
    recordCall({ upstream, operation, outcome, spentMs, limitMs: options.usualLimitMs ?? options.limitMs });
    if (error !== undefined) rememberFacts(error, factsFor(options, seen, outcome, spentMs));
  };
  try {
    const result = await context.with(contextOf(span), () => work(callOf(seen)));
    finish(seen.word ?? wordOfStatus(seen.status));
    return result;
  } catch (error) {
    seen.limitMs = limitOf(error) ?? seen.limitMs;
    finish(seen.word ?? outcomeOf(error), error);
    throw error;
  }
}

function startSpan(options: UpstreamCallOptions): Span {
  if (options.isPartOfTrace && !isInTrace()) return trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  const name = `${options.upstream} ${options.operation}`;
  return tracer().startSpan(name, { kind: SpanKind.CLIENT, attributes: openingAttributes(options) });
}

function isInTrace(): boolean {
  const active = trace.getActiveSpan();
  return active !== undefined && isSpanContextValid(active.spanContext());
}

/** A call without a span leaves the context as it is: a span without ids would look like a trace to what it calls. */
function contextOf(span: Span): Context {
  return isSpanContextValid(span.spanContext()) ? trace.setSpan(context.active(), span) : context.active();
}

interface Seen {
  limitMs: number | undefined;
  bytes: (number | (() => number))[];
  status: number | undefined;
  word: CallOutcome | undefined;
}

function callOf(seen: Seen): UpstreamCall {
  return {
    sent: (bytes) => void seen.bytes.push(bytes),
    answered: (status) => {
      seen.status = status;
    },
    ended: (word, limitMs) => {
      seen.word = word;
      seen.limitMs = limitMs ?? seen.limitMs;
    },
  };
}

function bytesSent({ bytes }: Seen): number | undefined {
  if (bytes.length === 0) return undefined;
  return bytes.reduce<number>((sum, part) => sum + (typeof part === 'number' ? part : part()), 0);
}

function wordOfStatus(status = 200): CallOutcome {
  return status >= 500 ? 'answered_5xx' : status >= 400 ? 'answered_4xx' : 'ok';
}

function openingAttributes({
  upstream,
  operation,
  attempt,
  breakerState,
  attributes,
}: UpstreamCallOptions): Attributes {
  return {
    ...attributes,
    'app.upstream.name': upstream,
    'app.upstream.operation': operation,
    ...(attempt && { 'app.attempt': attempt.number, 'app.attempts': attempt.of }),
    ...(breakerState !== undefined && { 'app.breaker.state': breakerState }),
  };
}

function closingAttributes(seen: Seen, outcome: CallOutcome, spentMs: number): Attributes {
  const { limitMs, status } = seen;
  const left = deadlineLeft();
  const bytes = bytesSent(seen);
  return {
    'app.call.outcome': outcome,
    'app.upstream.spent_ms': Math.round(spentMs),
    ...(limitMs !== undefined && Number.isFinite(limitMs) && { 'app.timeout.limit_ms': limitMs }),
    ...(left !== undefined && { 'app.deadline.left_ms': left }),
    ...(bytes !== undefined && { 'app.bytes_sent': bytes }),
    ...(status !== undefined && { 'http.response.status_code': status }),
  };
}

const deadlineLeft = () => {
  const left = activeDeadline()?.leftMs();
  return left === undefined ? undefined : Math.round(left);
};

function factsFor(options: UpstreamCallOptions, seen: Seen, outcome: CallOutcome, spentMs: number): UpstreamFacts {
  return {
    name: options.upstream,
    operation: options.operation,
    error_type: outcome,
    limit_ms: seen.limitMs,
    spent_ms: Math.round(spentMs),
    deadline_left_ms: deadlineLeft(),
    attempt: options.attempt?.number,
    attempts: options.attempt?.of,
    breaker_state: options.breakerState,
    bytes_sent: bytesSent(seen),
  };
}
