/**
 * How long our own clients keep a connection that they do not use. Shorter than `DRAIN_DELAY_MS` of a system that is
 * replaced under load: while a process drains, a connection is either used, and told to go, or given up by its owner.
 * None is left to be closed just as a request is sent over it.
 */
export const IDLE_CONNECTION_MS = 2_000;
