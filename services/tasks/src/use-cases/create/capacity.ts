import type { Knex } from 'knex';
import type { CapacityReply } from '@vision/contracts/inference';
import type { InferenceClient } from '@vision/creation/inference-client';
import type { Logger } from '@vision/shared/logger';
import { asUnavailable } from '@vision/shared/unavailable';
import { outcomeOf } from '@vision/shared/upstream/classify';
import { isTimeout } from '@vision/shared/upstream/error-type';
import { claimClock } from '../../db/slot-claims.ts';

/** What the backend said last about its capacity. */
export interface Capacity {
  /** Undefined when the backend does not tell, or its answer is no capacity: then a submission tells. */
  reply: CapacityReply | undefined;
  askedAt: string;
}

export interface CapacityDeps {
  db: Knex;
  logger: Logger;
  inference: Pick<InferenceClient, 'readCapacity'>;
  /** `questionLimitMs`: longest wait for the backend's answer. */
  settings: { questionLimitMs: number };
}

/** An answer of the backend counts for so long. */
export const CAPACITY_MS = 1_000;

/**
 * Returns a question that creates share, at most one a second.
 * The question throws an AppError when the breaker is open, and OP-TASK-UPSTREAM-DOWN when no answer came in time: a
 * submission would wait for the same silence, and its outcome would be unknown.
 */
export function createCapacity({ db, inference, logger, settings }: CapacityDeps): () => Promise<Capacity> {
  let last: { askedAtMs: number; answer: Promise<Capacity> } | undefined;
  const ask = async (): Promise<Capacity> => {
    const askedAt = await claimClock(db);
    const reply = await inference.readCapacity(settings.questionLimitMs).catch((error: unknown) => {
      if (!asUnavailable(error) || isFinal(error)) throw error;
      logger.debug({ err: error }, 'the backend cannot be asked for its capacity');
      return undefined;
    });
    return { reply, askedAt };
  };
  return () => {
    if (last && performance.now() - last.askedAtMs <= CAPACITY_MS) return last.answer;
    const answer = ask();
    const asked = { askedAtMs: performance.now(), answer };
    last = asked;
    // The next create asks again.
    answer.catch(() => {
      if (last === asked) last = undefined;
    });
    return answer;
  };
}

/** Whether a submission cannot do better than the question did. */
function isFinal(error: unknown): boolean {
  const word = outcomeOf(error);
  return isTimeout(word) || word === 'breaker_open';
}
