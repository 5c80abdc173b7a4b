import type { Knex } from 'knex';
import { reservationIdOf } from '@vision/contracts/reservation-id';
import type { SnapshotMode } from '@vision/contracts/create-query';
import type { TaskStatus } from '@vision/contracts/task-events';
import { captureTrace } from '@vision/shared/telemetry/trace-context';
import { activeStatuses, hiddenStatuses, submittedStatuses, unconfirmedStatuses, videoKinds } from '../domain/task.ts';
import type { Status, Task, VisibleTask } from '../domain/task.ts';
import { oldestUnconfirmedS } from './deleted-tasks.ts';
import { inFuture } from './instants.ts';
import { TASKS, toTask, toVisibleTask } from './task-row.ts';
import type { ImageTaskRow, TaskRow } from './task-row.ts';

export interface NewDraft {
  taskId: string;
  subject: string;
  kind: Task['kind'];
  requestId: string;
  requestKey: string;
  clientRef?: string | undefined;
  snapshots: SnapshotMode;
  giveUpAfterS?: number | undefined;
  sourceLabel?: string | undefined;
  objectKey?: string | undefined;
}

/** A row that only this service sees; scene and thresholds are written after the request is validated. */
export async function insertDraft(
  db: Knex,
  { draft, leaseMs, retentionDays }: { draft: NewDraft; leaseMs: number; retentionDays: number },
): Promise<Task> {
  const now = db.raw('vision_now()');
  const rows = await db(TASKS)
    .insert({
      task_id: draft.taskId,
      subject: draft.subject,
      kind: draft.kind,
      request_id: draft.requestId,
      request_key: draft.requestKey,
      scene_code: '',
      status: 'draft',
      version: 1,
      attempt: 1,
      lower_bound: 0,
      default_min_score: 0,
      reservation_id: reservationIdOf(draft.taskId, 1),
      client_ref: draft.clientRef ?? null,
      snapshots: draft.snapshots,
      give_up_after_s: draft.giveUpAfterS ?? null,
      source_label: draft.sourceLabel ?? null,
      object_key: draft.objectKey ?? null,
      lease_until: inFuture(db, leaseMs),
      ...captureTrace(),
      created_at: now,
      updated_at: now,
      result_expires_at: db.raw('vision_now() + make_interval(days => ?)', [retentionDays]),
    })
    .returning<TaskRow[]>('*');
  // One row was inserted, so one is returned.
  return toTask(rows[0] as TaskRow);
}

/** A video task in any state; locked until the end of the transaction with `for update`. */
export async function findVideoTask(db: Knex, taskId: string, lock: '' | 'for update' = ''): Promise<Task | undefined> {
  const query = db<TaskRow>(TASKS).where({ task_id: taskId }).whereIn('kind', videoKinds);
  if (lock !== '') void query.forUpdate();
  const row = await query.first();
  return row && toTask(row);
}

/** Those of the given ids that are video tasks, without drafts. */
export async function findVideoTasks(db: Knex, ids: string[]): Promise<VisibleTask[]> {
  const rows = await db<TaskRow | ImageTaskRow>(TASKS).whereIn('task_id', ids).whereIn('kind', videoKinds);
  return rows.flatMap((row) => toVisibleTask(row) ?? []);
}

/** A task that is not hidden, of any owner and age. */
export async function findAnyTask(db: Knex, taskId: string): Promise<VisibleTask | undefined> {
  const row = await db<TaskRow | ImageTaskRow>(TASKS).where({ task_id: taskId }).first();
  return row && toVisibleTask(row);
}

/** A task its owner may see: not hidden, not expired. `subject` undefined: any owner. */
export async function findVisibleTask(
  db: Knex,
  { taskId, subject }: { taskId: string; subject?: string | undefined },
): Promise<VisibleTask | undefined> {
  const query = db<TaskRow | ImageTaskRow>(TASKS)
    .where({ task_id: taskId })
    .where('result_expires_at', '>', db.raw('vision_now()'));
  if (subject !== undefined) void query.where({ subject });
  const row = await query.first();
  return row && toVisibleTask(row);
}

export interface HistoryPage {
  subject: string;
  limit: number;
  /** Only tasks after this one. */
  afterTaskId?: string | undefined;
  order: 'newest' | 'oldest';
  status?: TaskStatus | undefined;
  sceneCode?: string | undefined;
  kind?: 'video' | 'image' | undefined;
  clientRef?: string | undefined;
  /** Created at or after this time. */
  createdAfter?: Date | undefined;
  /** Created before this time. */
  createdBefore?: Date | undefined;
}

/** A task id is a UUIDv7, so its order is the order of creation. */
export async function listVisibleTasks(db: Knex, page: HistoryPage): Promise<VisibleTask[]> {
  const query = db<TaskRow | ImageTaskRow>(TASKS)
    .where({ subject: page.subject })
    .whereNotIn('status', hiddenStatuses)
    .where('result_expires_at', '>', db.raw('vision_now()'))
    .orderBy('task_id', page.order === 'oldest' ? 'asc' : 'desc')
    .limit(page.limit);
  if (page.afterTaskId !== undefined)
    void query.where('task_id', page.order === 'oldest' ? '>' : '<', page.afterTaskId);
  if (page.createdAfter !== undefined) void query.where('created_at', '>=', page.createdAfter);
  if (page.createdBefore !== undefined) void query.where('created_at', '<', page.createdBefore);
  if (page.status !== undefined) void query.where({ status: page.status });
  if (page.sceneCode !== undefined) void query.where({ scene_code: page.sceneCode });
  if (page.clientRef !== undefined) void query.where({ client_ref: page.clientRef });
  if (page.kind !== undefined) void query.whereIn('kind', page.kind === 'image' ? ['image'] : videoKinds);
  return (await query).flatMap((row) => toVisibleTask(row) ?? []);
}

/** Blocks other admissions of this subject until the end of the transaction. */
export async function lockSubject(tx: Knex.Transaction, subject: string): Promise<void> {
  await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 1))', [subject]);
}

/** Tasks of a subject that have not ended; call it under `lockSubject`. */
export async function countActive(tx: Knex.Transaction, subject: string): Promise<number> {
  const [row] = await tx(TASKS).where({ subject }).whereIn('status', activeStatuses).count({ count: '*' });
  return Number(row?.['count'] ?? 0);
}

/** Records a stop request that takes effect once the backend is known to have the job; the state stays. */
export async function requestStop(db: Knex, taskId: string): Promise<void> {
  await db(TASKS)
    .where({ task_id: taskId })
    .whereIn('status', unconfirmedStatuses)
    .update({ stop_requested_at: db.raw('coalesce(stop_requested_at, now())'), check_at: db.fn.now() });
}

/**
 * Records that the end-of-stream marker of this attempt is applied and all its frames are readable; makes the task due.
 */
export async function noteResultsCompleted(db: Knex, taskId: string, attempt: number): Promise<boolean> {
  const changed = await db(TASKS)
    .where({ task_id: taskId })
    .whereIn('status', submittedStatuses)
    .update({
      results_completed_at: db.raw('coalesce(results_completed_at, now())'),
      results_attempt: db.raw('greatest(results_attempt, ?::int)', [attempt]),
      check_at: db.fn.now(),
    });
  return changed === 1;
}

interface Census {
  /** Tasks that have not ended, by state. */
  byStatus: Partial<Record<Status, number>>;
  /** Age of the oldest task whose submission is unknown. */
  oldestResolvingS: number;
  /** Age of the oldest unconfirmed deletion. */
  oldestUnconfirmedS: number;
}

export async function countByStatus(db: Knex): Promise<Census> {
  const { rows } = await db.raw<{ rows: { status: Status; count: number; oldest_s: number }[] }>(
    `select status, count(*) as count, extract(epoch from vision_now() - min(updated_at))::double precision as oldest_s
       from tasks
      where status = any(:activeStatuses)
      group by status`,
    { activeStatuses: [...activeStatuses] },
  );
  const byStatus: Census['byStatus'] = Object.fromEntries(rows.map((row) => [row.status, row.count]));
  const oldestResolvingS = rows.find((row) => row.status === 'resolving')?.oldest_s ?? 0;
  return { byStatus, oldestResolvingS, oldestUnconfirmedS: await oldestUnconfirmedS(db) };
}
