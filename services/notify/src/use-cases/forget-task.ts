import type { TaskDeletion } from '@vision/contracts/task-events';
import type { EffectTransaction } from '@vision/kafka/progress';
import { removeAlarmsOf } from '../db/alarms.ts';
import { lockLog, removeEventsOf } from '../db/event-log.ts';
import { markDeleted } from '../db/task-states.ts';
import { removeDeliveriesOf } from '../db/webhook-deliveries.ts';
import type { Deps } from './deps.ts';

/**
 * Removes the events and the alarms of a task that its owner deleted, and the webhooks that wait to tell of them. The
 * mark refuses every version that arrives later; retention removes the mark when those versions are older than events
 * are retained.
 */
export async function forgetTask(
  { signals }: Pick<Deps, 'signals'>,
  deletion: TaskDeletion,
  transaction: EffectTransaction,
): Promise<void> {
  const removed = await transaction(async (tx) => {
    await markDeleted(tx, deletion);
    // Alarms that are being logged are committed when the lock is there; later ones find the mark.
    await lockLog(tx, deletion.subject);
    const events = await removeEventsOf(tx, deletion.task_id);
    const alarms = await removeAlarmsOf(tx, deletion.task_id);
    return { events, alarms, deliveries: await removeDeliveriesOf(tx, deletion.task_id) };
  });
  signals.taskForgotten(deletion.task_id, removed);
}
