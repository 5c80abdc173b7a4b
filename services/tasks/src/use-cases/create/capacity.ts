import type { Knex } from 'knex';
import type { CapacityReply } from '@vision/contracts/inference';
import type { InferenceClient } from '@vision/creation/inference-client';
import type { Logger } from '@vision/shared/logger';
import { asUnavailable } from '@vision/shared/unavailable';
import { outcomeOf } from '@vision/shared/upstream/classify';
import { isTimeout } from '@vision/shared/upstream/error-type';
import { claimClock } from '../../db/slot-claims.ts';

/** The last capacity that the backend reported. */
export interface Capacity {
  /** Undefined when the backend reports no capacity or an invalid one: then it decides on each submission. */
  reply: CapacityReply | undefined;
  askedAt: string;
}

export interface CapacityDeps {
  db: Knex;
  logger: Logger;
  inference: Pick<InferenceClient, 'readCapacity'>;
  /** `questionLimitMs`: maximum wait for the answer of the backend. */
  settings: { questionLimitMs: number };
}

/** Lifetime of a capacity answer. */
export const CAPACITY_MS = 1_000;

/**
 * Returns a capacity query that create requests share, at most one a second. The query throws an AppError when the
 * breaker is open, and OP-TASK-UPSTREAM-DOWN when no answer came in time: a submission would time out as well, and its
 * outcome would be unknown.
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
    // The next create request queries again.
    answer.catch(() => {
      if (last === asked) last = undefined;
    });
    return answer;
  };
}

/** Whether a submission would fail like the query did. */
function isFinal(error: unknown): boolean {
  const word = outcomeOf(error);
  return isTimeout(word) || word === 'breaker_open';
}
