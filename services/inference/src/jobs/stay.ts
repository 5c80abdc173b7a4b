import { unlessAborted } from '@vision/shared/async/unless-aborted';
import type { FrameGathering } from '../use-cases/frame-gathering.ts';

/** Delays the publishing of a job's frames, so that more of them are sent together. */
export interface Stay {
  /** Resolves at the joint departure of the worker's jobs, or when `leave` is called before. */
  wait: () => Promise<void>;
  /** Ends the current wait, if any. */
  leave: () => void;
}

export function createStay(gathering: Pick<FrameGathering, 'departure'>): Stay {
  let leaving = new AbortController();
  return {
    wait: async () => {
      leaving = new AbortController();
      // All jobs share the timer of the departure, so it is not aborted.
      await unlessAborted(leaving.signal, gathering.departure()).catch(() => undefined);
    },
    leave: () => leaving.abort(),
  };
}
