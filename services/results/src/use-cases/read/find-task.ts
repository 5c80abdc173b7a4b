import { fail } from '@vision/contracts/errors';
import { inTransaction } from '@vision/shared/db/transaction';
import type { ReadableFold } from '../../db/folds.ts';
import { findFoldedTask, findReadableTask } from '../../db/task-views.ts';
import type { ReadableTask } from '../../domain/task-view.ts';
import type { Deps } from '../deps.ts';
import { learnTask } from '../store/learn-task.ts';

/**
 * The video task of this subject. A task that is unknown here (its event may not have arrived) is queried from its
 * service. An id of another subject causes the same queries as an unused id, so the two cannot be told apart.
 * @throws AppError not found; OP-TASK-REQUEST-INVALID (`not_a_video_task`); OP-SYS-UNAVAILABLE when no service can be
 * queried.
 */
export async function findTask(
  { db, taskOwners, settings }: Pick<Deps, 'db' | 'settings' | 'taskOwners'>,
  subject: string,
  taskId: string,
): Promise<ReadableTask> {
  const { endPatienceMs } = settings;
  const known = await findReadableTask(db, { taskId, subject, endPatienceMs });
  if (known) return unexpired(known);
  const asked = await taskOwners.find(subject, taskId);
  if (asked === undefined) throw taskNotFound();
  if (asked === 'image') throw notVideoTask();
  await inTransaction(db, (tx) => learnTask(tx, asked));
  const learnt = await findReadableTask(db, { taskId, subject, endPatienceMs });
  if (!learnt) throw taskNotFound();
  return unexpired(learnt);
}

/** The same task with the progress of its fold, unless the task had to be queried. */
export async function findFolded(
  deps: Pick<Deps, 'db' | 'settings' | 'taskOwners'>,
  subject: string,
  taskId: string,
): Promise<{ task: ReadableTask; fold: ReadableFold | undefined }> {
  const { endPatienceMs } = deps.settings;
  const known = await findFoldedTask(deps.db, { taskId, subject, endPatienceMs });
  if (!known) return { task: await findTask(deps, subject, taskId), fold: undefined };
  return { ...known, task: unexpired(known.task) };
}

/**
 * The kind of a task whose view an earlier release stored without it.
 * @throws AppError not found; OP-SYS-UNAVAILABLE when tasks cannot be queried
 */
export async function learnKind(
  { db, taskOwners }: Pick<Deps, 'db' | 'taskOwners'>,
  subject: string,
  taskId: string,
): Promise<'stream' | 'upload'> {
  const asked = await taskOwners.find(subject, taskId);
  if (asked === undefined || asked === 'image' || asked.kind === undefined) throw taskNotFound();
  await inTransaction(db, (tx) => learnTask(tx, asked));
  return asked.kind;
}

/** Expired results are hidden at once; they are removed later. */
function unexpired(task: ReadableTask): ReadableTask {
  if (task.is_expired) throw taskNotFound();
  return task;
}

/** Unknown, expired or of another subject: the caller cannot tell which. */
export const taskNotFound = () => fail.notFound('There is no such task.', 'task_not_found');

export const notVideoTask = () =>
  fail.requestInvalid(
    'not_a_video_task',
    'An image call has no result frames; read it at /v1/vision/image-detections/{task_id}.',
  );
