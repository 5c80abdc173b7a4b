import type { Knex } from 'knex';
import type { Ingest } from '../domain/plan-storing.ts';

const COLUMNS: (keyof Ingest)[] = [
  'task_id',
  'attempt',
  'stored',
  'position',
  'max_seq',
  'late_position',
  'late_listed',
  'attempt_stored',
  'attempt_first',
  'attempt_last',
  'pending_end',
  'end_status',
  'end_frames',
];

/** The row of a task under its lock. */
export interface LockedIngest extends Ingest {
  /** Time at which the owner deleted the task; nothing of it is stored afterwards. */
  deleted_at: Date | null;
  /** The alarm rules of the task: null or 0 none, positive: a hash of them, negative: they have to be read. */
  rule_set: number | null;
}

/**
 * Locks the rows of these tasks until the end of the transaction, after inserting missing ones; always in one order, so
 * no two transactions deadlock.
 */
export async function lockIngests(tx: Knex.Transaction, taskIds: string[]): Promise<Map<string, LockedIngest>> {
  const ordered = taskIds.toSorted();
  await tx.raw('insert into ingests (task_id) select unnest(?::uuid[]) on conflict do nothing', [ordered]);
  const rows = await tx('ingests')
    .whereRaw('task_id = any(?::uuid[])', [ordered])
    .orderBy('task_id')
    .forUpdate()
    .select<LockedIngest[]>(...COLUMNS, 'deleted_at', 'rule_set');
  return new Map(rows.map((row) => [row.task_id, row]));
}

/** Position up to which the frames of a task are stored; undefined for an unknown task. */
export async function findIngest(db: Knex, taskId: string): Promise<Ingest | undefined> {
  return db<Ingest>('ingests').where({ task_id: taskId }).first(COLUMNS);
}

/** The same for many tasks; unknown tasks are left out. */
export async function findIngests(db: Knex, taskIds: string[]): Promise<Ingest[]> {
  return db<Ingest>('ingests').whereIn('task_id', taskIds).select(COLUMNS);
}

/** A task whose end-of-stream marker has waited long enough for its frames. */
export interface OverdueEnd {
  task_id: string;
  /** As the text of the database, whose instants are finer than a `Date`. */
  pending_until: string;
}

/** Whether there are overdue end-of-stream markers, in SQL that an index answers. */
export const ANY_END_OVERDUE = 'exists (select from ingests where pending_until <= now())';

/** Tasks with overdue end-of-stream markers, in the order in which they became overdue, from after `after`. */
export async function findOverdueEnds(
  db: Knex,
  { limit, after }: { limit: number; after?: OverdueEnd | undefined },
): Promise<OverdueEnd[]> {
  const query = db('ingests')
    .whereRaw('pending_until <= now()')
    .orderBy(['pending_until', 'task_id'])
    .limit(limit)
    .select<OverdueEnd[]>('task_id', db.raw('pending_until::text as pending_until'));
  if (after) query.whereRaw('(pending_until, task_id) > (?::timestamptz, ?)', [after.pending_until, after.task_id]);
  return query;
}

/** Time that frames wait for others before they are folded. */
export const FOLD_AFTER_MS = 5_000;

interface SaveOptions {
  /** Time that an end-of-stream marker waits for its frames, from now. */
  patienceMs: number;
  /** Tasks that have hot frames now. */
  hot?: string[];
  /** Time until their first compaction, unless one is scheduled. */
  hotMs?: number;
}

/** Stored state of a task. */
interface SavedIngest extends Ingest {
  /** Frames that this transaction wrote, minus those that it counts in `stored`. */
  unmatched_frames?: number;
}

/** Writes the state of locked tasks. */
export async function saveIngests(
  tx: Knex.Transaction,
  ingests: SavedIngest[],
  { patienceMs, hot = [], hotMs = 0 }: SaveOptions,
): Promise<void> {
  await tx.raw(
    `update ingests as i
        set attempt = n.attempt, stored = n.stored, position = n.position, max_seq = n.max_seq,
            late_position = n.late_position, late_listed = n.late_listed, end_status = n.end_status, end_frames = n.end_frames,
            attempt_stored = n.attempt_stored,
            unmatched_frames = i.unmatched_frames + coalesce(n.unmatched_frames, 0),
            attempt_first = n.attempt_first, attempt_last = n.attempt_last, pending_end = n.pending_end,
            pending_until = case when n.pending_end is null then null
                                 when i.attempt = n.attempt and i.pending_until is not null then i.pending_until
                                 else now() + make_interval(secs => :patienceS) end,
            compact_at = case when i.task_id = any(:hot::uuid[])
                              then coalesce(i.compact_at, now() + make_interval(secs => :hotS)) else i.compact_at end,
            fold_at = case when n.position > i.position
                           then coalesce(i.fold_at, now() + make_interval(secs => :foldS)) else i.fold_at end,
            ended_at = case when n.end_status is null then null else coalesce(i.ended_at, vision_now()) end
       from json_populate_recordset(null::ingests, :changed::json) as n
      where i.task_id = n.task_id`,
    {
      patienceS: patienceMs / 1000,
      hotS: hotMs / 1000,
      foldS: FOLD_AFTER_MS / 1000,
      hot,
      changed: JSON.stringify(ingests),
    },
  );
}
