import type { Knex } from 'knex';
import { captureTrace } from '@vision/shared/telemetry/trace-context';
import { activeStatuses, reservationIdOf } from '../domain/task.ts';
import type { Task, TaskKind } from '../domain/task.ts';
import { nowOf, TASKS, toTask } from './task-row.ts';
import type { Clock, TaskRow } from './task-row.ts';

export interface NewDraft {
  taskId: string;
  subject: string;
  kind: Exclude<TaskKind, 'image'>;
  requestId: string;
  requestKey: string;
  sourceLabel?: string | undefined;
  objectKey?: string | undefined;
}

/** A row that only this service sees; scene and thresholds are written when the request is known to be good. */
export async function insertDraft(
  db: Knex,
  clock: Clock,
  { draft, leaseMs }: { draft: NewDraft; leaseMs: number },
): Promise<Task> {
  const now = nowOf(db, clock);
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
      source_label: draft.sourceLabel ?? null,
      object_key: draft.objectKey ?? null,
      lease_until: leaseUntil(db, leaseMs),
      ...captureTrace(),
      created_at: now,
      updated_at: now,
      result_expires_at: db.raw("now() + ?::interval + interval '90 days'", [clock.offset]),
    })
    .returning<TaskRow[]>('*');
  return toTask(rows[0] as TaskRow);
}

export const leaseUntil = (db: Knex, leaseMs: number): Knex.Raw =>
  db.raw('now() + make_interval(secs => ?)', [leaseMs / 1000]);

/** A task in any state, for the service itself. */
export async function findAnyTask(db: Knex, taskId: string): Promise<Task | undefined> {
  const row = await db<TaskRow>(TASKS).where({ task_id: taskId }).first();
  return row && toTask(row);
}

const HIDDEN = ['draft', 'admitted', 'undoing'];

/** A task its owner may see: not hidden, not expired. `subject` undefined: whoever owns it. */
export async function findTask(
  db: Knex,
  clock: Clock,
  { taskId, subject }: { taskId: string; subject?: string | undefined },
): Promise<Task | undefined> {
  const row = await db<TaskRow>(TASKS)
    .where({ task_id: taskId, ...(subject === undefined ? {} : { subject }) })
    .whereNotIn('status', HIDDEN)
    .where('result_expires_at', '>', nowOf(db, clock))
    .first();
  return row && toTask(row);
}

export interface HistoryPage {
  subject: string;
  limit: number;
  /** Only tasks older than this one. */
  beforeTaskId?: string | undefined;
  status?: string | undefined;
  sceneCode?: string | undefined;
  kind?: 'video' | 'image' | undefined;
}

/** Newest first: a task id is a UUIDv7, so its order is the order of creation. */
export async function listTasks(db: Knex, clock: Clock, page: HistoryPage): Promise<Task[]> {
  const query = db<TaskRow>(TASKS)
    .where({ subject: page.subject })
    .whereNotIn('status', HIDDEN)
    .where('result_expires_at', '>', nowOf(db, clock))
    .orderBy('task_id', 'desc')
    .limit(page.limit);
  if (page.beforeTaskId !== undefined) void query.where('task_id', '<', page.beforeTaskId);
  if (page.status !== undefined) void query.where('status', page.status as Task['status']);
  if (page.sceneCode !== undefined) void query.where('scene_code', page.sceneCode);
  if (page.kind !== undefined) void query.whereIn('kind', page.kind === 'image' ? ['image'] : ['stream', 'upload']);
  return (await query).map(toTask);
}

/** Tasks of one state over all subjects, oldest first, for the operator. */
export async function listByStatus(db: Knex, status: string, limit: number): Promise<Task[]> {
  const rows = await db<TaskRow>(TASKS)
    .where('status', status as Task['status'])
    .orderBy('created_at')
    .limit(limit);
  return rows.map(toTask);
}

/** Holds back other admissions of this subject until the end of the transaction. */
export async function lockSubject(tx: Knex.Transaction, subject: string): Promise<void> {
  await tx.raw('select pg_advisory_xact_lock(hashtextextended(?, 1))', [subject]);
}

/** Tasks of a subject that have not ended; call it under `lockSubject`. */
export async function countActive(tx: Knex.Transaction, subject: string): Promise<number> {
  const [row] = await tx(TASKS)
    .where({ subject })
    .whereIn('status', [...activeStatuses])
    .count({ count: '*' });
  return Number(row?.['count'] ?? 0);
}

/** Remembers that the caller wants it stopped; no state changes. */
export async function requestStop(db: Knex, taskId: string): Promise<void> {
  await db(TASKS)
    .where({ task_id: taskId })
    .whereIn('status', ['submitting', 'resolving'])
    .update({ stop_requested_at: db.raw('coalesce(stop_requested_at, now())'), check_at: db.fn.now() });
}

/** The end mark of the task is stored with every frame before it; makes the task due. */
export async function noteResultsCompleted(db: Knex, taskId: string): Promise<boolean> {
  const changed = await db(TASKS)
    .where({ task_id: taskId })
    .whereIn('status', ['submitting', 'resolving', 'running', 'stopping'])
    .update({ results_completed_at: db.raw('coalesce(results_completed_at, now())'), check_at: db.fn.now() });
  return changed === 1;
}

/** Tasks that have not ended, by state, and the age of the oldest whose submission is unknown. */
export async function countByStatus(db: Knex): Promise<{ byStatus: Record<string, number>; oldestResolvingS: number }> {
  const { rows } = await db.raw<{ rows: { status: string; count: number; oldest_s: number }[] }>(
    `select status, count(*) as count, extract(epoch from now() - min(updated_at))::double precision as oldest_s
       from tasks
      where status in ('admitted', 'submitting', 'resolving', 'running', 'stopping')
      group by status`,
  );
  const byStatus = Object.fromEntries(rows.map((row) => [row.status, row.count]));
  return { byStatus, oldestResolvingS: rows.find((row) => row.status === 'resolving')?.oldest_s ?? 0 };
}
