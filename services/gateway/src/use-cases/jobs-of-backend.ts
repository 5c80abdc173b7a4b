import type { Job } from '@vision/contracts/inference';
import { listJobsOfBackend as listing, stopJobOfBackend as stopping } from '@vision/contracts/tasks';
import type { JobsOfBackend } from '@vision/contracts/tasks';
import { OPERATOR } from '../domain/audit.ts';
import { audited } from './audited.ts';
import type { Deps } from './deps.ts';

/** Jobs that have not ended at the backend, each with its task if tasks knows it. */
export async function listJobsOfBackend(
  { owners }: Pick<Deps, 'owners'>,
  page: { after?: string | undefined; limit: number },
  signal: AbortSignal,
): Promise<JobsOfBackend> {
  return owners.tasks.ask(listing, { subject: OPERATOR, query: page, signal });
}

/** Stops a job without a task that stops it, for an operator. */
export async function stopJobOfBackend(
  { db, owners }: Pick<Deps, 'db' | 'owners'>,
  { jobId, reason, actor }: { jobId: string; reason: string; actor: string },
): Promise<Job> {
  const act = { actor, action: 'job.stop', target: jobId, details: { reason } };
  return audited(db, act, () =>
    owners.tasks.ask(stopping, { subject: OPERATOR, params: { job_id: jobId }, body: { who: actor } }),
  );
}
