import { stopInternalTask } from '@vision/contracts/tasks';
import type { InternalTask } from '@vision/contracts/tasks';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

/** Stops a task for an operator. */
export async function stopTask(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { taskId, reason, actor }: { taskId: string; reason: string; actor: string },
): Promise<InternalTask> {
  const act = { actor, action: 'task.stop', target: taskId, details: { reason } };
  return audited(db, act, () =>
    owners.tasks.ask(stopInternalTask, { subject: OPERATOR, params: { task_id: taskId }, body: { who: actor } }),
  );
}
