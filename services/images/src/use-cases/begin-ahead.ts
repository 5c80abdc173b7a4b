import type { NewKey } from '../db/idempotency-keys.ts';
import type { Deps } from './deps.ts';
import type { ProcessedImage } from './process-image.ts';

/** Work on pictures that began before their call was confirmed. */
export interface WorkAhead {
  processed: Promise<ProcessedImage[]>;
  /** The call holds its key and its units: the work is needed. */
  keep: () => void;
  /** The work has been ended or is done: waits for it, and counts it as done in vain unless it was kept. */
  end: () => Promise<void>;
}

export type AheadDeps = Pick<Deps, 'headStarts' | 'inference' | 'signals'>;

/**
 * Begins the work on the pictures of a call that is likely to be confirmed; undefined when it has to run in order.
 * While the breaker is not closed one picture is tried at a time, so nothing begins ahead then.
 */
export function beginAhead(
  { headStarts, inference, signals }: AheadDeps,
  key: NewKey,
  begin: () => Promise<ProcessedImage[]>,
): WorkAhead | undefined {
  if (inference.breakerState('detect') !== 'closed') return undefined;
  const place = headStarts.begin(key, key.imagesTotal);
  if (!place) return undefined;
  const processed = begin();
  // The code that ends it knows why, and may no longer await it.
  processed.catch(() => undefined);
  let isKept = false;
  return {
    processed,
    keep: () => {
      isKept = true;
      place.end();
      signals.beganAhead('kept');
    },
    end: async () => {
      place.end();
      await Promise.allSettled([processed]);
      if (!isKept) signals.beganAhead('in_vain');
    },
  };
}
