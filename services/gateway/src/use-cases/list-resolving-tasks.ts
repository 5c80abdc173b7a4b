import { listResolvingTasks as question } from '@vision/shared/contracts/tasks';
import type { InternalTask } from '@vision/shared/contracts/tasks';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

/** Tasks that wait for a verification, oldest first. */
export async function listResolvingTasks(
  { owners }: Pick<Deps, 'owners'>,
  signal: AbortSignal,
): Promise<{ items: InternalTask[] }> {
  return owners.tasks.ask(question, { subject: OPERATOR, query: { status: 'resolving' }, signal });
}
