/** Maximum time of one query before a submission. */
export const MAX_QUESTION_MS = 2_000;

/**
 * Timeout of one query before the submission. A create request sends at most two, so a third of the time is left for
 * the submission when both are answered late.
 */
export const questionLimitMs = (submitTimeoutMs: number) => Math.floor(Math.min(MAX_QUESTION_MS, submitTimeoutMs / 3));

/** Time budget of one create request for answers of the backend, shared by its queries and its submission. */
export interface AnswerTime {
  /** Waits for the answer to a query and subtracts the wait from the budget. */
  spend: <T>(question: () => Promise<T>) => Promise<T>;
  /** Remaining milliseconds, never less than a third of the total. */
  leftMs: () => number;
}

/** @param now clock in milliseconds */
export function createAnswerTime(submitTimeoutMs: number, now: () => number = () => performance.now()): AnswerTime {
  let left = submitTimeoutMs;
  return {
    spend: async (question) => {
      const from = now();
      try {
        return await question();
      } finally {
        // A pause of this process does not count against the backend's time.
        left -= Math.min(now() - from, questionLimitMs(submitTimeoutMs));
      }
    },
    leftMs: () => Math.floor(left),
  };
}
