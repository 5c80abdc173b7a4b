import type { Knex } from 'knex';
import { WINDOW_START } from '@vision/shared/audit/differences';
import type { AttemptFrames, EndedTask, FramesOfTask } from '../domain/ended-task.ts';

/** A page of ended tasks in the order in which their views changed. */
export interface EndedPage {
  tasks: { taskId: string; changedAt: string }[];
  /** This page and those before it have every change up to here. */
  upTo: string;
  isFull: boolean;
}

/**
 * The first tasks whose view changed after the mark of this name, at least `lagMs` ago, to an ended status. A page does
 * not split changes of one instant. Instants are texts: those of the database are finer than a `Date`.
 */
export async function endedTasks(
  db: Knex,
  { mark, lagMs, limit }: { mark: string; lagMs: number; limit: number },
): Promise<EndedPage> {
  const { rows } = await db.raw<{ rows: [{ tasks: EndedPage['tasks'] | null; to: string }] }>(
    `select asked.to::text as to, page.tasks
       from (select ${WINDOW_START} as from, now() - :lag::interval as to) as asked
       cross join lateral (
         select json_agg(json_build_object('taskId', task_id, 'changedAt', changed_at::text) order by changed_at) as tasks
           from (select task_id, changed_at from task_views
                  where ended_at is not null and changed_at > asked.from and changed_at <= asked.to
                  order by changed_at fetch first (:limit) rows with ties) as ended) as page`,
    { kind: mark, lag: `${lagMs} milliseconds`, limit },
  );
  const [{ tasks, to }] = rows;
  const ended = tasks ?? [];
  const last = ended.at(-1);
  const isFull = last !== undefined && ended.length >= limit;
  return { tasks: ended, upTo: isFull ? last.changedAt : to, isFull };
}

/** Stored facts of these tasks, those that have ended and were not refunded. */
export async function describeEnded(db: Knex, taskIds: string[]): Promise<EndedTask[]> {
  if (taskIds.length === 0) return [];
  const { rows } = await db.raw<{ rows: EndedTask[] }>(
    `select v.task_id as "taskId", v.frames_published as published, coalesce(i.stored, 0) as stored,
            i.end_status is not null as "hasEndMark", i.attempt as "lastAttempt",
            case when i.end_frames is not null
                 then json_build_object('count', mark.count, 'first', mark.first_seq, 'last', mark.last_seq) end as marked,
            json_build_object('frames', coalesce(i.stored + i.unmatched_frames, 0), 'attempt', json_build_object(
              'count', coalesce(i.attempt_stored, 0), 'first', i.attempt_first, 'last', i.attempt_last)) as "byCounters"
       from task_views as v
       left join ingests as i on i.task_id = v.task_id
       cross join lateral jsonb_to_record(coalesce(i.end_frames, '{}')) as mark (count int, first_seq int, last_seq int)
      where v.task_id = any(:taskIds::uuid[]) and v.ended_at is not null and v.status <> 'refunded'
        and i.deleted_at is null`,
    { taskIds },
  );
  return rows;
}

/** Maximum number of rows of a task that one statement reads. */
const ROWS_AT_ONCE = 2_000;

/** Counts the stored frames of a task, in statements of a bounded size; a snapshot makes them consistent. */
export async function countFrames(tx: Knex.Transaction, task: CountedTask): Promise<FramesOfTask> {
  const total: FramesOfTask = { frames: 0, attempt: { count: 0, first: null, last: null } };
  const add = ({ frames, count, first, last }: CountedPart) => {
    total.frames += frames;
    const { attempt } = total;
    attempt.count += count;
    if (first !== null) attempt.first = Math.min(first, attempt.first ?? first);
    if (last !== null) attempt.last = Math.max(last, attempt.last ?? last);
  };
  for await (const part of countedRows(tx, task)) add(part);
  for await (const part of countedSegments(tx, task)) add(part);
  return total;
}

/** Frames of a part, and those of the requested attempt. */
interface CountedPart extends AttemptFrames {
  frames: number;
}

interface CountedTask {
  taskId: string;
  day: string;
  attempt: number | null;
}

async function* countedRows(tx: Knex.Transaction, task: CountedTask): AsyncGenerator<CountedPart> {
  let after: number | null = -1;
  while (after !== null) {
    const { rows }: { rows: [CountedPart & { reached: number | null }] } = await tx.raw(
      `select count(*) as frames, count(*) filter (where attempt = :attempt) as count,
              min(seq) filter (where attempt = :attempt) as first, max(seq) filter (where attempt = :attempt) as last,
              case when count(*) = :limit then max(seq) end as reached
         from (select seq, attempt from frames where task_id = :taskId and day = :day and seq > :after
                order by seq limit :limit) as page`,
      { ...task, after, limit: ROWS_AT_ONCE },
    );
    after = rows[0].reached;
    yield rows[0];
  }
}

async function* countedSegments(tx: Knex.Transaction, task: CountedTask): AsyncGenerator<CountedPart> {
  let after: { firstSeq: number; id: string } | undefined = { firstSeq: -1, id: NO_ID };
  while (after) {
    const { rows }: { rows: (CountedPart & { firstSeq: number; id: string })[] } = await tx.raw(
      `select first_seq as "firstSeq", id, frames, coalesce((attempts -> :attempt::text ->> 0)::int, 0) as count,
              (attempts -> :attempt::text ->> 1)::int as first, (attempts -> :attempt::text ->> 2)::int as last
         from segments where task_id = :taskId and day = :day and (first_seq, id) > (:firstSeq, :id)
        order by first_seq, id limit :limit`,
      { ...task, ...after, limit: ROWS_AT_ONCE },
    );
    yield* rows;
    after = rows.length === ROWS_AT_ONCE ? rows.at(-1) : undefined;
  }
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Returns due tasks without an end-of-stream marker, and schedules the next query about each after its present age, an
 * hour at most. A task with alarm rules has its row before its first frame.
 */
export async function claimUnended(db: Knex, limit: number): Promise<{ id: string; hasFrames: boolean }[]> {
  const { rows } = await db.raw<{ rows: { id: string; hasFrames: boolean }[] }>(
    `update ingests as i
        set ask_at = now() + least(interval '1 hour', greatest(interval '1 minute', now() - i.created_at))
      where i.task_id in (
        select task_id from ingests where end_status is null and deleted_at is null and ask_at <= now()
         order by ask_at limit :limit for update skip locked)
      returning i.task_id as id, i.attempt >= 0 as "hasFrames"`,
    { limit },
  );
  return rows;
}

/** Makes all of them due. */
export async function hastenUnended(db: Knex): Promise<void> {
  await db('ingests')
    .whereNull('end_status')
    .whereNull('deleted_at')
    .where('ask_at', '>', db.fn.now())
    .update({ ask_at: db.fn.now() });
}

/** Returns those of these tasks that have frames and no end-of-stream marker. */
export async function findUnended(db: Knex, taskIds: string[]): Promise<string[]> {
  return db('ingests')
    .whereIn('task_id', taskIds)
    .where('attempt', '>=', 0)
    .whereNull('end_status')
    .whereNull('deleted_at')
    .pluck<string[]>('task_id');
}
