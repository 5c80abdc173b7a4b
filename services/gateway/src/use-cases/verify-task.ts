import { verifyInternalTask } from '@vision/contracts/tasks';
import type { InternalTask } from '@vision/contracts/tasks';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

export interface Verification {
  taskId: string;
  outcome: 'created' | 'not_created';
  note: string;
  actor: string;
}

/** Forwards an operator's finding about a task whose submission had an unknown outcome. */
export async function verifyTask(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { taskId, outcome, note, actor }: Verification,
): Promise<InternalTask> {
  const act = { actor, action: 'task.verify', target: taskId, details: { outcome, note } };
  return audited(db, act, () =>
    owners.tasks.ask(verifyInternalTask, {
      subject: OPERATOR,
      params: { task_id: taskId },
      body: { outcome, note, who: actor },
    }),
  );
}
