import { randomUUID } from 'node:crypto';
import type { CreateStreamQuery } from '@vision/contracts/create-query';
import { pauseForHolder } from '@vision/creation/holder-poll';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import type { IdempotencyKey } from '@vision/creation/idempotency-key';
import { findDeleted, isDeletedKey } from '../../db/deleted-tasks.ts';
import { findKey, freeExpiredKey, insertKey, passKeyOn } from '../../db/idempotency-keys.ts';
import type { Claim, ClaimTerms, KeyRow } from '../../db/idempotency-keys.ts';
import { moveTask } from '../../db/move-task.ts';
import { findVideoTask, findVisibleTask } from '../../db/tasks.ts';
import { after } from '../../domain/moves.ts';
import type { Task, VisibleTask } from '../../domain/task.ts';
import { assertAcceptsNew } from './assert-accepts-new.ts';
import type { CreateDeps } from '../deps.ts';

/** Input of every create request before its body. */
export interface CreateRequest {
  caller: Caller;
  idempotencyKey: IdempotencyKey;
  query: CreateStreamQuery;
}

/** The key is free and new work is accepted, or another request works on the key. */
export type OpenKey = { key: 'new' } | { key: 'in_use' };
/** The key names a task: the body is only compared with that of the first request. */
export type DoneKey = { key: 'done'; taskId: string; fingerprint: string };

export type KnownKey = OpenKey | DoneKey;

/** Another request with this key has created the task. */
export interface Replay {
  outcome: 'replayed';
  task: VisibleTask;
}

/** This request holds the key and does the work. */
interface Claimed {
  outcome: 'claimed';
  claim: Claim;
}

const LABEL = 'fingerprint';

/**
 * Looks up the key before the body is read. Refuses a request with a new key when new work is not accepted.
 * @throws AppError not_found when its task was deleted; OP-TASK-BREAKER-OPEN, OP-QUOTA-DAILY-EXHAUSTED,
 * OP-SYS-UNAVAILABLE.
 */
export async function openCreate(deps: CreateDeps, { caller, idempotencyKey }: CreateRequest): Promise<KnownKey> {
  const known = await findKey(deps.db, { subject: caller.subject, key: idempotencyKey.key });
  if (known && !known.done) return { key: 'in_use' };
  const task = known && (await namedTask(deps, known));
  // The submission may still be rolled back; then another request does the work.
  if (task?.status === 'submitting') return { key: 'in_use' };
  if (known && task) return { key: 'done', taskId: task.taskId, fingerprint: known.fingerprint };
  await assertNotDeleted(deps, { subject: caller.subject, key: idempotencyKey.key });
  await assertAcceptsNew(deps, caller);
  return { key: 'new' };
}

/**
 * Claims the key for the draft of this request, or returns the task that the key names. While another request works on
 * the key, this one waits without a database connection; if that request fails, this one takes the key over.
 * @throws AppError OP-TASK-REQUEST-INVALID `idempotency_key_reused`; OP-SYS-UNAVAILABLE after `keyWaitMs`; any error of
 * `assertAcceptsNew`.
 */
export async function claimKey(
  deps: CreateDeps,
  { caller, idempotencyKey }: CreateRequest,
  { opened, draft, meaning }: { opened: OpenKey; draft: Task; meaning: string },
): Promise<Claimed | Replay> {
  const claim = { subject: caller.subject, key: idempotencyKey.key, taskId: draft.taskId, owner: randomUUID() };
  const terms = { fingerprint: deps.box.digest(meaning, LABEL), leaseMs: deps.settings.leaseMs };
  const poll = {
    deadline: performance.now() + deps.settings.keyWaitMs,
    reason: 'first_request_still_running',
  } as const;
  for (let round = 1; ; round += 1) {
    const taken = await takeKey(deps, claim, terms);
    if (taken.outcome === 'taken') {
      crashPoint('tasks.create.key-claimed');
      await assertNotDeleted(deps, claim);
      // For a known key this was not checked before the body, and during a wait it may have changed.
      if (opened.key !== 'new' || round > 1) await assertAcceptsNew(deps, caller);
      return { outcome: 'claimed', claim };
    }
    const { holder } = taken;
    assertSameMeaning(deps, holder, meaning);
    const task = holder.done ? await namedTask(deps, holder) : undefined;
    if (task && task.status !== 'submitting') return { outcome: 'replayed', task };
    await pauseForHolder(round, poll);
  }
}

/**
 * The current task of a key, for a request with the same meaning.
 * @throws AppError OP-TASK-REQUEST-INVALID `idempotency_key_reused`; OP-SYS-UNAVAILABLE when it has just expired.
 */
export async function replayTask(deps: CreateDeps, opened: DoneKey, meaning: string): Promise<VisibleTask> {
  assertSameMeaning(deps, opened, meaning);
  const task = await findVisibleTask(deps.db, { taskId: opened.taskId });
  if (task) return task;
  if (await findDeleted(deps.db, opened)) throw deletedTask();
  throw fail.sysUnavailable('first_request_undone');
}

/** Refuses a repeat of a request whose task was deleted by its owner. */
async function assertNotDeleted({ db }: CreateDeps, id: { subject: string; key: string }): Promise<void> {
  if (await isDeletedKey(db, id)) throw deletedTask();
}

const deletedTask = () => fail.notFound('The task of this Idempotency-Key was deleted.', 'task_not_found');

function assertSameMeaning({ box }: CreateDeps, { fingerprint }: { fingerprint: string }, meaning: string): void {
  if (!box.matches(fingerprint, meaning, LABEL)) throw fail.keyReused();
}

/** The task of a finished key; an expired task frees its key for a new one. */
async function namedTask({ db }: CreateDeps, { task_id: taskId }: KeyRow): Promise<VisibleTask | undefined> {
  const task = await findVisibleTask(db, { taskId });
  if (!task) await inTransaction(db, (tx) => freeExpiredKey(tx, taskId));
  return task;
}

/** Whether this request holds the key now, or another live or finished request does. */
type Taken = { outcome: 'taken' } | { outcome: 'held'; holder: KeyRow };

/** Claims the key if it is free or its holder died. */
async function takeKey(deps: CreateDeps, claim: Claim, terms: ClaimTerms): Promise<Taken> {
  for (;;) {
    if (await insertKey(deps.db, claim, terms)) return { outcome: 'taken' };
    // Read without a lock, because many requests may wait for the same key.
    const holder = await findKey(deps.db, claim);
    if (holder && !holder.is_dead) return { outcome: 'held', holder };
    const taken = holder && (await takeOver(deps, claim, terms));
    if (taken) return taken;
    // The key was freed between two statements.
  }
}

/**
 * Moves the draft of a dead holder to `undoing` in the same transaction, so that the holder cannot continue if it wakes
 * up.
 */
async function takeOver({ db }: CreateDeps, claim: Claim, terms: ClaimTerms): Promise<Taken | undefined> {
  return inTransaction(db, async (tx) => {
    const holder = await findKey(tx, claim, 'for update');
    if (!holder?.is_dead) return holder && { outcome: 'held', holder };
    const draft = await findVideoTask(tx, holder.task_id, 'for update');
    if (draft && after('take_over', draft.status)) {
      await moveTask(tx, draft, { move: 'take_over', recoverAfterMs: 0 });
    }
    await passKeyOn(tx, claim, terms);
    return { outcome: 'taken' };
  });
}
