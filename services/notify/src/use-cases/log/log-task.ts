import type { TaskSnapshot } from '@vision/contracts/task-events';
import { crashPoint } from '@vision/shared/crash-point';
import type { EffectTransaction } from '@vision/kafka/progress';
import { appendToLog, lockLog } from '../../db/event-log.ts';
import { findSeenTask, isOlderThan, saveSeenTask } from '../../db/task-states.ts';
import { taskEvent } from '../../domain/task-event.ts';
import type { Deps } from '../deps.ts';

/**
 * Logs a new state of a task. The newest version wins in any order of arrival; a repeated or late version changes
 * nothing. Versions older than the retention of events are skipped. The log is locked first, as by all writers about a
 * task: with different orders two of them could deadlock.
 */
export async function logTask(
  { settings, signals, wakeWebhooks }: Pick<Deps, 'settings' | 'signals' | 'wakeWebhooks'>,
  task: TaskSnapshot,
  transaction: EffectTransaction,
): Promise<void> {
  const logged = await transaction(async (tx) => {
    await lockLog(tx, task.subject);
    const seen = await findSeenTask(tx, task.task_id);
    if (seen && seen.version >= task.version) return undefined;
    if (await isOlderThan(tx, task.updated_at, settings.eventDays)) return undefined;
    await saveSeenTask(tx, task);
    const event = seen?.status === task.status ? undefined : taskEvent(task);
    const isNew = event !== undefined && (await appendToLog(tx, event)) !== undefined;
    crashPoint('notify.event_logged');
    return isNew ? event : undefined;
  });
  if (!logged) return;
  signals.eventLogged(logged);
  wakeWebhooks();
}
