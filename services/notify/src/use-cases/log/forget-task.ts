import type { TaskDeletion } from '@vision/contracts/task-events';
import { inTransaction } from '@vision/shared/db/transaction';
import type { EffectTransaction } from '@vision/kafka/progress';
import { removeAlarmsOf } from '../../db/alarms.ts';
import { lockLog, removeEventsOf } from '../../db/event-log.ts';
import { markDeleted } from '../../db/task-states.ts';
import { removeDeliveriesOf } from '../../db/webhook-deliveries.ts';
import type { Deps } from '../deps.ts';

type ForgetDeps = Pick<Deps, 'db' | 'signals' | 'settings'>;

/**
 * Removes the events and the alarms of a task that its owner deleted, and the pending webhooks about them. The mark
 * rejects every later version; retention removes the mark when those versions are older than the retention of events. A
 * task may have a million events, so they are removed in steps, each in its own transaction; a process that ends in
 * between starts again.
 */
export async function forgetTask(
  deps: ForgetDeps,
  deletion: TaskDeletion,
  transaction: EffectTransaction,
): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    // Alarms that are being logged are committed once this has the lock; later ones find the mark.
    await lockLog(tx, deletion.subject);
    await markDeleted(tx, deletion);
  });
  const removed = await removeAllOf(deps, deletion.task_id);
  await transaction(() => Promise.resolve());
  deps.signals.taskForgotten(deletion.task_id, removed);
}

async function removeAllOf({ db, settings }: ForgetDeps, taskId: string) {
  const { retentionBatch: limit } = settings;
  const total = { events: 0, alarms: 0, deliveries: 0 };
  for (let isMore = true; isMore;) {
    const deliveries = await removeDeliveriesOf(db, taskId, limit);
    const events = await removeEventsOf(db, taskId, limit);
    const alarms = await removeAlarmsOf(db, taskId, limit);
    total.deliveries += deliveries.waiting;
    total.events += events;
    total.alarms += alarms;
    isMore = Math.max(deliveries.removed, events, alarms) === limit;
  }
  return total;
}
