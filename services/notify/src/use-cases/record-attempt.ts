import { inTransaction } from '@vision/shared/db/transaction';
import { appendToLog } from '../db/event-log.ts';
import { endDelivery, postponeDelivery } from '../db/webhook-deliveries.ts';
import type { ClaimedDelivery } from '../db/webhook-deliveries.ts';
import { disableEndpoint, noteFailure, noteSuccess } from '../db/webhook-endpoints.ts';
import { DISABLE_AFTER, KEPT_ATTEMPTS, nextAttemptIn } from '../domain/delivery.ts';
import type { Answer, Attempt, DisabledReason } from '../domain/delivery.ts';
import type { NewEvent } from '../domain/event.ts';
import { disabledEvent } from '../domain/webhook-event.ts';
import type { AttemptDeps } from './deps.ts';

interface Ended {
  answer: Answer;
  attempt: Pick<Attempt, 'at' | 'duration_ms'>;
  /** When the event happened. */
  occurredAt: Date;
}

/** Stores how an attempt ended: delivered, due once more, failed for good, or the end of its endpoint. */
export async function recordAttempt(
  deps: AttemptDeps,
  claimed: ClaimedDelivery,
  { answer, attempt, occurredAt }: Ended,
): Promise<void> {
  const { db, signals } = deps;
  const { outcome, status } = answer;
  const attempts = [...claimed.attempts, { ...attempt, outcome, status }].slice(-KEPT_ATTEMPTS);
  if (outcome === 'delivered') {
    // First, so that no owner sees a delivered webhook at an endpoint that is said to fail.
    await noteSuccess(db, claimed.endpoint_key);
    await endDelivery(db, claimed, { state: 'delivered', attempts, failures: claimed.failures });
    const ageMs = claimed.failures === 0 ? Date.now() - occurredAt.getTime() : undefined;
    signals.webhookDelivered(ageMs);
    return;
  }
  signals.webhookFailed(outcome, { ...claimed, status });
  const disabled = await recordFailure(deps, claimed, { answer, attempts });
  if (disabled) signals.endpointDisabled(disabled.reason, claimed.host, disabled.event);
}

/** One transaction: the attempt, the count of its endpoint, and what follows from it. */
function recordFailure(
  { db }: AttemptDeps,
  claimed: ClaimedDelivery,
  { answer, attempts }: { answer: Answer; attempts: Attempt[] },
): Promise<{ reason: Exclude<DisabledReason, 'requested'>; event: NewEvent } | undefined> {
  const failures = claimed.failures + 1;
  const pauseMs = nextAttemptIn({ failures, ageMs: claimed.age_ms, retryAfterMs: answer.retryAfterMs });
  const isGone = answer.status === 410;
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
