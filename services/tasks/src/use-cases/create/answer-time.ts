/** Longest time of one question that comes before a submission. */
export const MAX_QUESTION_MS = 2_000;

/**
 * Limit of one question before the submission. A create asks two at most, so a third of the time is left for the
 * submission when both are answered late.
 */
export const questionLimitMs = (submitTimeoutMs: number) => Math.floor(Math.min(MAX_QUESTION_MS, submitTimeoutMs / 3));

/** The time that one create waits for answers of the backend, shared by all its questions and its submission. */
export interface AnswerTime {
  /** Waits for the answer to a question and takes the wait off what is left. */
  spend: <T>(question: () => Promise<T>) => Promise<T>;
  /** Milliseconds, never less than a third of the whole. */
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
        // A pause of this process is not the backend's.
        left -= Math.min(now() - from, questionLimitMs(submitTimeoutMs));
      }
    },
    leftMs: () => Math.floor(left),
  };
}
