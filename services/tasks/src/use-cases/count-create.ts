import { asAppError } from '@vision/shared/errors';
import type { Signals } from '../signals.ts';
import type { Created } from './create-stream-task.ts';

/** Counts what became of a create: the state of its task, `replayed`, or the reason of its refusal. */
export async function countCreate(
  signals: Pick<Signals, 'created'>,
  kind: 'stream' | 'upload',
  create: () => Promise<Created>,
): Promise<Created> {
  try {
    const created = await create();
    signals.created(kind, created.replayed ? 'replayed' : created.task.status);
    return created;
  } catch (error) {
    signals.created(kind, asAppError(error)?.reason ?? 'failed');
    throw error;
  }
}
