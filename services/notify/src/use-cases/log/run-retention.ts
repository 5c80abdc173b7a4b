import { removeOldRules } from '../../db/alarm-rules.ts';
import { removeOldAlarms } from '../../db/alarms.ts';
import { removeOldEvents, removeOldNotes } from '../../db/event-log.ts';
import { removeOldTasks } from '../../db/task-states.ts';
import { removeOldDeliveries } from '../../db/webhook-deliveries.ts';
import type { Removed } from '../../signals.ts';
import type { Deps } from '../deps.ts';

/** Removes expired data in short transactions; may be interrupted and repeated at any point. */
export async function runRetention({
  db,
  signals,
  settings,
}: Pick<Deps, 'db' | 'signals' | 'settings'>): Promise<Removed> {
  const { eventDays, retentionBatch } = settings;
  const removed = {
    deliveries: await repeat(retentionBatch, () => removeOldDeliveries(db, eventDays, retentionBatch)),
    events: await repeat(retentionBatch, () => removeOldEvents(db, eventDays, retentionBatch)),
    // Before tasks: a task that has not ended keeps its open alarms.
    alarms: await repeat(retentionBatch, () => removeOldAlarms(db, eventDays, retentionBatch)),
    rules: await repeat(retentionBatch, () => removeOldRules(db, eventDays, retentionBatch)),
    tasks: await repeat(retentionBatch, () => removeOldTasks(db, eventDays, retentionBatch)),
  };
  await repeat(retentionBatch, () => removeOldNotes(db, eventDays, retentionBatch));
  signals.retentionRan(removed);
  return removed;
}

async function repeat(batch: number, remove: () => Promise<number>): Promise<number> {
  let sum = 0;
  for (;;) {
    const removed = await remove();
    sum += removed;
    if (removed < batch) return sum;
  }
}
