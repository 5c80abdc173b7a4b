import { createBatches } from './batches.ts';
import type { Batches } from './batches.ts';
import { inTransaction } from '@vision/shared/db/transaction';
import { appendToLog } from '../../db/event-log.ts';
import { endDelivery, postponeDelivery } from '../../db/webhook-deliveries.ts';
import type { ClaimedDelivery } from '../../db/webhook-deliveries.ts';
import { disableEndpoint, noteFailure, noteSuccess } from '../../db/webhook-endpoints.ts';
import { storeDelivered, storeFailed } from '../../db/webhook-outcomes.ts';
import type { AttemptOutcome } from '../../db/webhook-outcomes.ts';
import { AT_ONCE, DISABLE_AFTER, KEPT_ATTEMPTS, nextAttemptIn } from '../../domain/delivery.ts';
import type { Answer, Attempt, DisabledReason } from '../../domain/delivery.ts';
import type { NewEvent } from '../../domain/event.ts';
import { disabledEvent } from '../../domain/webhook-event.ts';
import type { Deps } from '../deps.ts';

interface Ended {
  answer: Answer;
  attempt: Pick<Attempt, 'at' | 'duration_ms'>;
  /** Time of the event. */
  occurredAt: Date;
}

/** Stores the outcome of an attempt: delivered, due again, failed for good, or the end of its endpoint. */
export type RecordAttempt = (claimed: ClaimedDelivery, ended: Ended) => Promise<void>;

type RecordDeps = Pick<Deps, 'db' | 'signals'>;

/**
 * Attempts that end while others are being stored are stored together, in one statement. Those that the statement
 * skips, and all of them when it fails, are stored one by one.
 */
export function createRecordAttempt(deps: RecordDeps): RecordAttempt {
  const delivered = batchesOf(deps, storeDelivered);
  const failed = batchesOf(deps, storeFailed);
  return async (claimed, { answer, attempt, occurredAt }) => {
    const { outcome, status } = answer;
    const attempts = [...claimed.attempts, { ...attempt, outcome, status }].slice(-KEPT_ATTEMPTS);
    if (outcome === 'delivered') {
      const ended = { claimed, attempts, failures: claimed.failures };
      if (!(await delivered.add(ended))) await recordSuccess(deps, ended);
      const ageMs = claimed.failures === 0 ? Date.now() - occurredAt.getTime() : undefined;
      deps.signals.webhookDelivered(ageMs);
      return;
    }
    deps.signals.webhookFailed(outcome, { ...claimed, status });
    const failures = claimed.failures + 1;
    const pauseMs = nextAttemptIn({ failures, ageMs: claimed.age_ms, retryAfterMs: answer.retryAfterMs });
    const ended = { claimed, attempts, failures, pauseMs };
    const isGone = status === 410;
    if (!isGone && (await failed.add(ended))) return;
    const disabled = await recordFailure(deps, ended, isGone);
    if (disabled) deps.signals.endpointDisabled(disabled.reason, claimed.host, disabled.event);
  };
}

function batchesOf({ db, signals }: RecordDeps, store: typeof storeDelivered): Batches<AttemptOutcome, boolean> {
  return createBatches({
    most: AT_ONCE.process,
    run: async (outcomes) => {
      try {
        return await store(db, outcomes);
      } catch (error) {
        signals.attemptsNotStoredTogether(error, outcomes.length);
        return outcomes.map(() => false);
      }
    },
  });
}

async function recordSuccess({ db }: RecordDeps, { claimed, attempts, failures }: AttemptOutcome): Promise<void> {
  // First, so that no owner sees a delivered webhook at an endpoint that is shown as failing.
  await noteSuccess(db, claimed.endpoint_key);
  await endDelivery(db, claimed, { state: 'delivered', attempts, failures });
}

/** One transaction: the attempt, the failure count of its endpoint, and the consequences. */
function recordFailure(
  { db }: RecordDeps,
  { claimed, attempts, failures, pauseMs }: AttemptOutcome,
  isGone: boolean,
): Promise<{ reason: Exclude<DisabledReason, 'requested'>; event: NewEvent } | undefined> {
  return inTransaction(db, async (tx) => {
    const failing = await noteFailure(tx, claimed);
    if (pauseMs !== undefined || isGone)
      await postponeDelivery(tx, claimed, { pauseMs: pauseMs ?? 0, attempts, failures });
    else await endDelivery(tx, claimed, { state: 'failed', attempts, failures });
    if (!failing) return undefined;
    const isDead = failing.hours >= DISABLE_AFTER.hours && failing.failures >= DISABLE_AFTER.failures;
    if (!failing.is_enabled || !(isGone || isDead)) return undefined;
    const reason = isGone ? 'gone' : 'failing';
    await disableEndpoint(tx, claimed.endpoint_key, reason);
    const about = { subject: failing.subject, endpointId: failing.endpoint_id, occurredAt: new Date() };
    const event = disabledEvent(about, claimed.endpoint_key, reason);
    await appendToLog(tx, event);
    return { reason, event };
  });
}
