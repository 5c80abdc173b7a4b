import { appendEvents } from '@vision/kafka/outbox';
import { inTransaction } from '@vision/shared/db/transaction';
import { claimUnpublished } from '../../db/alarm-rules.ts';
import { ruleEvent } from '../../domain/alarm-rule.ts';
import type { Deps } from '../deps.ts';

/** More often than a record stays in the topic, so that the topic always has every rule. */
const EVERY_HOURS = 24;
const BATCH = 200;

/**
 * Publishes every rule once a day, under its present version. A database with this version changes nothing; one that
 * has lost rules gets all of them back when it reads the topic. Replicas share the work.
 */
export async function repeatRules({ db, wakeRelay }: Pick<Deps, 'db' | 'wakeRelay'>): Promise<void> {
  for (;;) {
    const repeated = await inTransaction(db, async (tx) => {
      const rules = await claimUnpublished(tx, EVERY_HOURS, BATCH);
      await appendEvents(tx, rules.map(ruleEvent));
      return rules.length;
    });
    if (repeated > 0) wakeRelay();
    if (repeated < BATCH) return;
  }
}
