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
  const stopping = new AbortController();
  return {
    begin: (res) => {
      const ending = new AbortController();
      const timer = setTimeout(() => ending.abort(), LONGEST_MS * (0.9 + 0.2 * Math.random()));
      const onStop = () => ending.abort();
      stopping.signal.addEventListener('abort', onStop);
      if (stopping.signal.aborted) ending.abort();
      res.once('close', () => {
        clearTimeout(timer);
        stopping.signal.removeEventListener('abort', onStop);
      });
      return ending.signal;
    },
    end: () => stopping.abort(),
  };
}
