import type { NewKey } from '../db/idempotency-keys.ts';
import type { Deps } from './deps.ts';
import type { ProcessedImage } from './process-image.ts';
import { processImages } from './process-images.ts';
import type { ImagesInput, ProcessDeps } from './process-images.ts';

/** Work on images that began before their call was confirmed. */
export interface SpeculativeWork {
  processed: Promise<ProcessedImage[]>;
  /** The call holds its key and its units: the work is needed. */
  keep: () => void;
  /** Waits for the work, which has been ended or is done, and counts it as done in vain unless it was kept. */
  end: () => Promise<void>;
}

export type SpeculateDeps = ProcessDeps & Pick<Deps, 'speculation'>;

/**
 * Begins the work on the images of a call that is likely to be confirmed; undefined when it has to run in order. While
 * the breaker is not closed one image is tried at a time, so nothing is speculated then.
 */
export function speculate(deps: SpeculateDeps, key: NewKey, input: ImagesInput): SpeculativeWork | undefined {
  const { speculation, inference, signals } = deps;
  if (inference.breakerState('detect') !== 'closed') return undefined;
  const slot = speculation.begin(key, key.imagesTotal);
  if (!slot) return undefined;
  const processed = processImages(deps, input);
  // The code that ends it knows why, and may no longer await it.
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
