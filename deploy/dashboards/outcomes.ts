/**
 * How calls to upstreams end, as matchers. The words stand in packages/shared/src/upstream/error-type.ts; a client that
 * left or was slow, and a cancel of our own, say nothing about an upstream.
 */
export const TIMED_OUT = 'outcome=~".+_timeout|deadline_exceeded"';
export const FAILED = 'outcome!~"ok|answered_4xx|client_left|client_slow|canceled"';
export const COUNTS = 'outcome!~"client_left|client_slow|canceled"';
/** Without answers that last for as long as the caller reads: their time is nobody's delay. */
export const ENDS_BY_ITSELF = 'operation!~"getResultStream|getEventStream|getTaskVideo"';

/** `TIMED_OUT` in searches for traces. */
export const TRACE_TIMED_OUT = 'span.error.type =~ ".+_timeout|deadline_exceeded"';
