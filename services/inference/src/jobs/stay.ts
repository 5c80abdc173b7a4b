import { unlessAborted } from '@vision/shared/async/unless-aborted';
import type { FrameGathering } from '../use-cases/frame-gathering.ts';

/** Lets more frames of a job come before those that wait are published. */
export interface Stay {
  /** Resolves when what the jobs of the worker have departs, or when this one leaves before. */
  wait: () => Promise<void>;
  /** Ends the wait; nothing happens while nobody waits. */
  leave: () => void;
}

export function createStay(gathering: Pick<FrameGathering, 'departure'>): Stay {
  let leaving = new AbortController();
  return {
    wait: async () => {
      leaving = new AbortController();
      // The departure is a timer of all jobs, which goes on for the others.
      await unlessAborted(leaving.signal, gathering.departure()).catch(() => undefined);
    },
    leave: () => leaving.abort(),
  };
}
