import type { Knex } from 'knex';
import type { Window } from '@vision/shared/audit/differences';

/** Frames of one attempt, by their numbers. */
interface AttemptFrames {
  count: number;
  first: number | null;
  last: number | null;
}

export interface EndedTask {
  taskId: string;
  /** As the backend says; null when an earlier release told of the end. */
  published: number | null;
  /** As counted when they were stored. */
  stored: number;
  /** As they are there. */
  frames: number;
  hasEndMark: boolean;
  /** Those of the last attempt, as they are there. */
  attempt: AttemptFrames;
  /** Those of the last attempt, as its end mark says. */
  marked: AttemptFrames | null;
}

/** Tasks whose view was changed in this time and says that they have ended. */
export async function endedTasks(db: Knex, { from, to }: Window): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `select task_id as id from task_views where ended_at is not null and changed_at > :from and changed_at <= :to`,
    { from, to },
  );
  return rows.map(({ id }) => id);
}

/**
 * Tasks of these that have ended and whose frames, stored or only published, have no end mark, are others than were
 * counted, or are not those that the end mark speaks of. Counting reads the rows of a task and its index of segments.
 */
export async function incomplete(db: Knex, tasks: { taskId: string; day: string }[]): Promise<EndedTask[]> {
  if (tasks.length === 0) return [];
  const { rows } = await db.raw<{ rows: EndedTask[] }>(
    `select asked."taskId", v.frames_published as published, coalesce(i.stored, 0) as stored, counted.frames,
            i.end_status is not null as "hasEndMark",
            json_build_object('count', counted.count, 'first', counted.first, 'last', counted.last) as attempt,
            case when i.end_frames is not null
                 then json_build_object('count', mark.count, 'first', mark.first_seq, 'last', mark.last_seq) end as marked
       from json_to_recordset(:tasks::json) as asked ("taskId" uuid, day date)
       join task_views as v on v.task_id = asked."taskId" and v.ended_at is not null and v.status <> 'refunded'
       left join ingests as i on i.task_id = asked."taskId"
       cross join lateral (
         select coalesce(sum(part.frames), 0)::bigint as frames, coalesce(sum(part.count), 0)::bigint as count,
                min(part.first) as first, max(part.last) as last
           from (
             select count(*) as frames, count(*) filter (where f.attempt = i.attempt) as count,
                    min(f.seq) filter (where f.attempt = i.attempt) as first,
                    max(f.seq) filter (where f.attempt = i.attempt) as last
               from frames as f where f.task_id = asked."taskId" and f.day = asked.day
             union all
             select s.frames, (s.attempts -> i.attempt::text ->> 0)::bigint,
                    (s.attempts -> i.attempt::text ->> 1)::int, (s.attempts -> i.attempt::text ->> 2)::int
               from segments as s where s.task_id = asked."taskId" and s.day = asked.day) as part) as counted
       cross join lateral jsonb_to_record(coalesce(i.end_frames, '{}')) as mark (count int, first_seq int, last_seq int)
      where counted.frames <> coalesce(i.stored, 0)
         or (i.end_status is null and coalesce(v.frames_published, i.stored, 0) > 0)
         or (mark.count > 0 and (counted.count < mark.count or counted.first > mark.first_seq or counted.last < mark.last_seq))`,
    { tasks: JSON.stringify(tasks) },
  );
  return rows;
}

/**
 * Gives tasks with frames and without an end mark whose turn it is, and sets when each is asked about again: after as
 * long as it is old, an hour at most.
 */
export async function claimUnended(db: Knex, limit: number): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `update ingests as i
        set ask_at = now() + least(interval '1 hour', greatest(interval '1 minute', now() - i.created_at))
      where i.task_id in (
        select task_id from ingests where end_status is null and ask_at <= now()
         order by ask_at limit :limit for update skip locked)
      returning i.task_id as id`,
    { limit },
  );
  return rows.map(({ id }) => id);
}

/** Those of these tasks that have frames and no end mark. */
export async function findUnended(db: Knex, taskIds: string[]): Promise<string[]> {
  return db('ingests').whereIn('task_id', taskIds).whereNull('end_status').pluck<string[]>('task_id');
}
