import { asAppError } from '@vision/contracts/errors';
import type { VideoKind } from '../../domain/task.ts';
import type { Signals } from '../../signals.ts';
import type { Created } from './create-draft.ts';

/** Counts the outcome of a create request: the state of its task, `replayed`, or the reason of its refusal. */
export async function countCreate(
  signals: Pick<Signals, 'created'>,
  kind: VideoKind,
  creating: Promise<Created>,
): Promise<Created> {
  try {
    const created = await creating;
    const { task, replayed } = created;
    signals.created({ kind, outcome: replayed ? 'replayed' : task.status, task_id: task.taskId });
    return created;
  } catch (error) {
    signals.created({ kind, outcome: asAppError(error)?.reason ?? 'failed' });
    throw error;
  }
}
