/**
 * How long a double keeps a connection that is not used: as long as the services it stands for, far above what their
 * clients keep one. A double that closes first lets a busy client send a request over a connection that is gone.
 */
export const KEPT_MS = 75_000;
