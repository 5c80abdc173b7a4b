import type { ServerResponse } from 'node:http';

/** Streams that this process serves. */
export interface OpenStreams {
  /** The signal that ends a new stream: after a time, or with the process. */
  begin: (res: ServerResponse) => AbortSignal;
  /** Ends all streams, so that a stop does not wait for them. */
  end: () => void;
}

/** Longest time of a stream, less or more a tenth: load moves to new replicas, and not all streams at once. */
const LONGEST_MS = 600_000;

/** Constructs the register of streams of a process. */
export function createOpenStreams(): OpenStreams {
  const open = new Set<AbortController>();
  let isStopping = false;
  return {
    begin: (res) => {
      const ending = new AbortController();
      const timer = setTimeout(() => ending.abort(), LONGEST_MS * (0.9 + 0.2 * Math.random()));
      open.add(ending);
      if (isStopping) ending.abort();
      res.once('close', () => {
        clearTimeout(timer);
        open.delete(ending);
      });
      return ending.signal;
    },
    end: () => {
      isStopping = true;
      for (const ending of open) ending.abort();
    },
  };
}
