import type { Knex } from 'knex';
import type { Progress } from '../domain/cursor.ts';
import type { FrameState, EvaluatedView } from '../domain/task-view.ts';
import { isDeleted } from './deleted-tasks.ts';

/** Progress of the fold of a task. */
export interface StoredFold extends Progress {
  /** Increases with every change. */
  revision: number;
  /** Bytes from `encodeState`. */
  state: Buffer;
  /** Bytes from `encodeEvaluation`; null when no rule was evaluated. */
  rules: Buffer | null;
}

/** Whether tasks are due, in SQL that an index answers. */
export const ANY_FOLD_DUE = 'exists (select from ingests where fold_at <= now())';

/** Makes a task due now when it has frames to fold and no fold is planned or running. */
export async function requestFold(db: Knex, taskId: string): Promise<void> {
  await db('ingests')
    .where({ task_id: taskId })
    .whereNull('fold_at')
    .whereNull('deleted_at')
    .update({ fold_at: db.raw('now()') });
}

export interface FoldPlan {
  /** Frames after this position are folded `ms` from now. */
  position: number;
  ms: number;
  /** Without such frames the task is folded again after this time; undefined: when frames are stored. */
  againMs?: number | undefined;
  /** The evaluated rules of the task, which replace the stored value. */
  ruleSet?: { before: number | null; after: number | null } | undefined;
}

const PLAN = `
  set fold_at = case when :isEvaluated and rule_set is distinct from :before::bigint then now()
                     when i.position > :plannedFrom then now() + make_interval(secs => :seconds)
                     else now() + make_interval(secs => :again::double precision) end,
      rule_set = case when :isEvaluated and rule_set is not distinct from :before::bigint then :after::bigint
                      else rule_set end`;

const valuesOf = ({ position, ms, againMs, ruleSet }: FoldPlan) => ({
  plannedFrom: position,
  seconds: ms / 1000,
  again: againMs === undefined ? null : againMs / 1000,
  isEvaluated: ruleSet !== undefined,
  before: ruleSet?.before ?? null,
  after: ruleSet?.after ?? null,
});

/** Plans the next fold of a task: now when its rules have changed since they were read. */
export async function planFold(db: Knex, taskId: string, plan: FoldPlan): Promise<void> {
  await db.raw(`update ingests as i ${PLAN} where i.task_id = :taskId`, { taskId, ...valuesOf(plan) });
}

/** Positions up to which the frames of a task are stored and folded, as of one instant. */
export interface ReadableFold {
  stored: FrameState;
  fold: StoredFold | undefined;
  /** Every stored frame is folded. */
  isFolded: boolean;
  /** Rate at which its source is sampled; null when the backend does not report it. */
  sampleFps: number | null;
}

/** The same, with facts for the evaluation of alarm rules. */
export interface FoldProgress extends ReadableFold {
  /** `ingests.rule_set`. */
  ruleSet: number | null;
  /** The task, once an event of it has arrived. */
  task: EvaluatedView | undefined;
  /** Unix milliseconds, by the database. */
  nowMs: number;
}

/** Selected columns of `ingests as i`, `folds as f` and `sources as s`. */
export interface FoldColumns {
  seq: number;
  foldPosition: number;
  revision: number | null;
  state: Buffer;
  rules: Buffer | null;
  isFolded: boolean;
  sampleFps: number | null;
}

export const FOLD = `f.seq, f.position as "foldPosition", f.revision, f.state, f.rules,
            coalesce(f.position >= i.position and f.seq >= i.max_seq, false) as "isFolded",
            (s.snapshot ->> 'sample_fps')::double precision as "sampleFps"`;

/** A row that was inserted and not yet written is no fold. */
export const foldOf = (row: FoldColumns): Omit<ReadableFold, 'stored'> => {
  const { seq, foldPosition: position, revision, state, rules, isFolded, sampleFps } = row;
  const fold = revision === null || revision === 0 ? undefined : { seq, position, revision, state, rules };
  return { fold, isFolded, sampleFps };
};

interface FoldProgressRow extends FrameState, FoldColumns, Omit<EvaluatedView, 'subject'> {
  ruleSet: number | null;
  subject: string | null;
  nowMs: number;
}

/** Reads up to where a task is stored and folded. */
export async function findFold(db: Knex, taskId: string): Promise<FoldProgress> {
  const { rows } = await db.raw<{ rows: [FoldProgressRow | undefined] }>(
    `select i.position, i.late_position, i.late_listed = i.late_position as is_late_listed, i.rule_set as "ruleSet",
            ${FOLD}, v.subject, v.kind, v.status, v.default_min_score as "defaultMinScore", v.scene_code as "sceneCode",
            v.client_ref as "clientRef", v.snapshots, (extract(epoch from v.ended_at) * 1000)::bigint as "endedMs",
            extract(epoch from vision_now() - v.ended_at)::double precision * 1000 as "endedForMs",
            i.end_status is not null or (i.attempt < 0 and coalesce(v.frames_published, 0) = 0) as "hasAllFrames",
            (extract(epoch from now()) * 1000)::bigint as "nowMs"
       from ingests as i left join folds as f on f.task_id = i.task_id left join sources as s on s.task_id = i.task_id
       left join task_views as v on v.task_id = i.task_id
      where i.task_id = ?`,
    [taskId],
  );
  const [row] = rows;
  if (!row) return unknownTask;
  const { subject, ruleSet, nowMs } = row;
  const task = subject === null ? undefined : { ...row, subject };
  return { ...foldOf(row), stored: row, ruleSet, task, nowMs };
}

/** Whether no frame of a task was stored after this position. */
export async function isStillAt(db: Knex, taskId: string, position: number): Promise<boolean> {
  const row = await db('ingests').where({ task_id: taskId, position }).first<object | undefined>('task_id');
  return row !== undefined;
}

const unknownTask: FoldProgress = {
  stored: { position: 0, late_position: 0, is_late_listed: true },
  fold: undefined,
  isFolded: false,
  sampleFps: null,
  ruleSet: null,
  task: undefined,
  nowMs: 0,
};

/** The revision of a fold; 0 before the first one. */
export async function revisionOfFold(db: Knex, taskId: string): Promise<number> {
  const found = await db('folds').where({ task_id: taskId }).first<{ revision: number } | undefined>('revision');
  return found?.revision ?? 0;
}

/**
 * Locks a fold until the end of the transaction if it still has this revision; 0: there is none yet. Returns false for
 * a task that was deleted in the meantime.
 */
export async function lockFold(tx: Knex.Transaction, taskId: string, revision: number): Promise<boolean> {
  const isNew = revision === 0 && (await isInserted(tx, taskId));
  // A deletion removes the row that it finds, so a row that can be locked belongs to a task that is not deleted.
  if (!isNew) {
    const locked = await tx('folds').where({ task_id: taskId, revision }).forUpdate().select('revision');
    return locked.length === 1;
  }
  if (!(await isDeleted(tx, taskId))) return true;
  await tx('folds').where({ task_id: taskId }).delete();
  return false;
}

async function isInserted(tx: Knex.Transaction, taskId: string): Promise<boolean> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    `insert into folds (task_id, seq, position, revision, state) values (?, -1, 0, 0, '') on conflict do nothing`,
    [taskId],
  );
  return rowCount === 1;
}

const SAVE = `update folds set seq = :seq, position = :position, revision = :revision, state = :state, rules = :rules
   where task_id = :taskId and revision = :revision - 1 returning task_id`;

/**
 * Writes a fold and plans the next one, in one statement. Call `lockFold` first for a fold that is not stored yet.
 * Returns false when the stored revision has changed.
 */
export async function saveFold(
  db: Knex,
  taskId: string,
  { fold, plan }: { fold: StoredFold; plan: FoldPlan | undefined },
): Promise<boolean> {
  const values = { taskId, ...fold };
  const { rowCount } = await (plan
    ? db.raw<{ rowCount: number }>(
        `with saved as (${SAVE}) update ingests as i ${PLAN} from saved where i.task_id = saved.task_id`,
        { ...values, ...valuesOf(plan) },
      )
    : db.raw<{ rowCount: number }>(SAVE, values));
  return rowCount === 1;
}

/** Removes folds of tasks with smaller ids, whose tracks and hours expired with their day; returns their number. */
export async function deleteFoldsBelow(db: Knex, taskId: string, batch: number): Promise<number> {
  const result = await db.raw<{ rowCount: number }>(
    `delete from folds where task_id in (select task_id from folds where task_id < :taskId order by task_id limit :batch)`,
    { taskId, batch },
  );
  return result.rowCount;
}
