import type { NewKey } from '../db/idempotency-keys.ts';
import type { Deps } from './deps.ts';
import type { ProcessedImage } from './process-image.ts';
import { processImages } from './process-images.ts';
import type { ImagesInput, ProcessDeps } from './process-images.ts';

/** Work on images that began before their call was confirmed. */
export interface SpeculativeWork {
  processed: Promise<ProcessedImage[]>;
  /** Keeps the work: the call holds its key and its units. */
  keep: () => void;
  /** Waits for the work, which has ended or was aborted, and counts it as wasted unless it was kept. */
  end: () => Promise<void>;
}

export type SpeculateDeps = ProcessDeps & Pick<Deps, 'speculation'>;

/**
 * Begins the work on the images of a call that is likely to be confirmed; undefined when the call may not speculate.
 * While the breaker is not closed, it tries one image at a time, so no call speculates then.
 */
export function speculate(deps: SpeculateDeps, key: NewKey, input: ImagesInput): SpeculativeWork | undefined {
  const { speculation, inference, signals } = deps;
  if (inference.breakerState('detect') !== 'closed') return undefined;
  const slot = speculation.begin(key, key.imagesTotal);
  if (!slot) return undefined;
  const processed = processImages(deps, input);
  // The code that aborts the work knows why, and may no longer await it.
  processed.catch(() => undefined);
  let isKept = false;
  return {
    processed,
    keep: () => {
      isKept = true;
      slot.end();
      signals.speculated('kept');
    },
    end: async () => {
      slot.end();
      await Promise.allSettled([processed]);
      if (!isKept) signals.speculated('in_vain');
    },
  };
}
