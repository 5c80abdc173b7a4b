import { atMost } from '@vision/shared/async/at-most';
import { backoff } from '@vision/shared/async/backoff';
import { retryUntil } from '@vision/shared/async/retry-until';

export interface FrameNumbers {
  /** The next number; undefined when none is confirmed, and then the frame must not be published. */
  next: () => Promise<number | undefined>;
}

export interface FrameNumbersOptions {
  first: number;
  /** Numbers below it are confirmed to belong only to this attempt. */
  ceiling: number;
  /** Numbers reserved at a time. */
  step: number;
  /** Maximum wait for a confirmation, once each time the numbers are used up. */
  waitMs: number;
  /** Raises the ceiling in the database. Returns the confirmed ceiling; undefined when another attempt has the job. */
  raise: (ceiling: number) => Promise<number | undefined>;
  /** Called when the numbers are used up and the wait for more has timed out or failed. */
  onExhausted: (error: unknown) => void;
  signal: AbortSignal;
}

const MAX_PAUSE_MS = 1_000;

/**
 * Numbers the frames of a live stream. Only numbers below a ceiling that the database has confirmed are used, so a
 * worker that takes the job over begins above all of them. More are reserved when half of them are used.
 */
export function createFrameNumbers(options: FrameNumbersOptions): FrameNumbers {
  const { step, waitMs, raise, onExhausted, signal } = options;
  let seq = options.first;
  let ceiling = options.ceiling;
  let raising: Promise<void> | undefined;
  let isExhausted = false;
  let lastError: unknown;

  const raiseUntilConfirmed = async () => {
    const pauseAfter = (error: unknown, failures: number) => {
      lastError = error;
      return backoff(failures, { maxMs: MAX_PAUSE_MS });
    };
    try {
      const confirmed = await retryUntil(() => raise(ceiling + step), { signal, pauseAfter });
      ceiling = Math.max(ceiling, confirmed ?? ceiling);
      isExhausted = false;
    } catch {
      // The signal aborted it: no more numbers are needed.
    } finally {
      raising = undefined;
    }
  };
  return {
    next: async () => {
      if (ceiling - seq <= step / 2) raising ??= raiseUntilConfirmed();
      if (seq >= ceiling && !isExhausted) {
        if (raising) await atMost(waitMs, raising);
        isExhausted = seq >= ceiling;
        if (isExhausted && !signal.aborted) onExhausted(lastError);
      }
      return seq < ceiling ? seq++ : undefined;
    },
  };
}
