import { listBackendJobs as question } from '@vision/contracts/tasks';
import type { BackendJob } from '@vision/contracts/tasks';
import { OPERATOR } from '../domain/audit.ts';
import type { Deps } from './deps.ts';

/** Tasks that have not ended, each with the present state of its job from the backend. */
export async function listBackendJobs(
  { owners }: Pick<Deps, 'owners'>,
  page: { subject?: string | undefined; after?: string | undefined; limit: number },
  signal: AbortSignal,
): Promise<{ items: BackendJob[]; next_cursor: string }> {
  return owners.tasks.ask(question, { subject: OPERATOR, query: page, signal });
}
