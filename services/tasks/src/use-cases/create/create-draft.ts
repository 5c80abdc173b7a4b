import { insertDraft } from '../../db/tasks.ts';
import type { NewDraft } from '../../db/tasks.ts';
import type { Task, VisibleTask } from '../../domain/task.ts';
import type { CreateRequest, Replay } from './create-key.ts';
import type { CreateDeps } from '../deps.ts';
import { renewLeases } from './renew-leases.ts';
import { submitTask } from './submit-task.ts';
import type { Submission } from './submit-task.ts';
import { rollBackCreate } from './roll-back-create.ts';

/** Result of a create request. */
export interface Created {
  task: VisibleTask;
  replayed: boolean;
  /** Processor time for inspecting the source, in milliseconds. */
  processorMs?: number;
}

/**
 * Stores the hidden row that owns all resources of a create request, so that recovery can release them after a crash.
 */
export async function beginDraft(
  { db, settings }: CreateDeps,
  { caller, idempotencyKey, query }: CreateRequest,
  source: Pick<NewDraft, 'taskId' | 'kind' | 'sourceLabel' | 'objectKey'>,
): Promise<Task> {
  const { key: requestKey, sent: requestId } = idempotencyKey;
  const draft = {
    ...source,
    subject: caller.subject,
    requestId,
    requestKey,
    clientRef: query.client_ref,
    snapshots: query.snapshots ?? caller.snapshots ?? 'off',
    giveUpAfterS: query.give_up_after_s,
  };
  return insertDraft(db, { draft, leaseMs: settings.leaseMs, retentionDays: settings.retentionDays });
}

/**
 * Completes a draft that is being checked and committed (`preparing`), then submits it to the backend. Before the
 * commit every failure rolls the draft back; after it, only a backend that surely did not get the job does.
 */
export async function finishDraft(
  deps: CreateDeps,
  draft: Task,
  preparing: Promise<Submission | Replay>,
): Promise<Created> {
  let job: 'sent' | 'unsent' = 'unsent';
  try {
    const prepared = await preparedOrRolledBack(deps, draft, preparing);
    if (prepared.outcome === 'replayed') return { task: prepared.task, replayed: true };
    job = 'sent';
    return { ...(await submitTask(deps, prepared)), replayed: false };
  } finally {
    deps.slots.release(draft.taskId, job);
  }
}

async function preparedOrRolledBack(
  deps: CreateDeps,
  draft: Task,
  preparing: Promise<Submission | Replay>,
): Promise<Submission | Replay> {
  const leases = renewLeases(deps, draft);
  try {
    const prepared = await preparing.finally(leases.release);
    if (prepared.outcome === 'replayed') await rollBackCreate(deps, draft);
    return prepared;
  } catch (error) {
    await rollBackCreate(deps, draft);
    throw error;
  }
}
