/**
 * Outcomes of upstream calls, as matchers. packages/shared/src/upstream/error-type.ts defines the values; a client that
 * disconnected or was slow, and a cancel of our own, say nothing about an upstream.
 */
export const TIMED_OUT = 'outcome=~".+_timeout|deadline_exceeded"';
export const FAILED = 'outcome!~"ok|answered_4xx|client_left|client_slow|canceled"';
export const COUNTS = 'outcome!~"client_left|client_slow|canceled"';
/** Excludes responses that last as long as the caller reads: their duration is not latency. */
export const ENDS_BY_ITSELF = 'operation!~"getResultStream|getEventStream|getTaskVideo"';

/** `TIMED_OUT` in searches for traces. */
export const TRACE_TIMED_OUT = 'span.error.type =~ ".+_timeout|deadline_exceeded"';
