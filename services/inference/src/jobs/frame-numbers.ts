import { atMost } from '@vision/shared/async/at-most';
import { backoff } from '@vision/shared/async/backoff';
import { retryUntil } from '@vision/shared/async/retry-until';

export interface FrameNumbers {
  /** The next number; undefined when none is confirmed: the frame must not be published. */
  next: () => Promise<number | undefined>;
}

export interface FrameNumbersOptions {
  first: number;
  /** Numbers below it are confirmed to be this attempt's alone. */
  ceiling: number;
  /** Numbers that are asked for at a time. */
  step: number;
  /** Longest wait for the confirmation, once for each time that the numbers run out. */
  waitMs: number;
  /** Raises the ceiling in the database; the ceiling that is confirmed, undefined when the job is another attempt's. */
  raise: (ceiling: number) => Promise<number | undefined>;
  /** Called when the numbers ran out and the wait for more was in vain. */
  onExhausted: (error: unknown) => void;
  signal: AbortSignal;
}

const MAX_PAUSE_MS = 1_000;

/**
 * Numbers the frames of a live stream. Only numbers below a ceiling that the database has confirmed are given out, so
 * a worker that takes the job over begins above all of them. More are asked for when half of them are used.
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
      // The signal ended it: no number is needed any more.
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
