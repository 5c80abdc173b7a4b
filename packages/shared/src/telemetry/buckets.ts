/**
 * Bounds of histogram buckets, in seconds. Each list reaches beyond the longest time that its histogram can see, so
 * that a panel shows where a timeout lies and not only that it is above the last bound.
 */
export const buckets = {
  /** Requests of callers: reads take milliseconds, an upload takes as long as its body is allowed to. */
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 90, 120, 180, 300, 600, 1800],
  /** One call to an upstream; the longest silence that is waited out is 120 s. */
  call: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 90, 120, 180],
  /** The work on all images of a call; it is given up after 80 s. */
  imageCall: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60, 80, 100, 120],
  /** Waiting for and running a model; callers wait for 20 s. */
  detect: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 25, 30],
  /** Waiting for a connection of a pool; given up after 5 s. */
  pool: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  /** What should be seconds and may become minutes when something stands still. */
  lag: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600],
} as const;
