import type { Knex } from 'knex';

/** State of the frames of a task, for operators. Columns are null for what its events or its frames did not report. */
export interface Standing {
  /** Status from the events of tasks. */
  known_status: string | null;
  known_version: number | null;
  frames_published: number | null;
  frames_stored: number | null;
  attempt: number | null;
  attempt_frames_stored: number | null;
  largest_seq: number | null;
  end_status: string | null;
  end_in_force_at: Date | null;
  pending_until: Date | null;
  deleted_at: Date | null;
}

/** Undefined for a task of which no event and no frame has arrived. */
export async function findStanding(db: Knex, taskId: string): Promise<Standing | undefined> {
  const { rows } = await db.raw<{ rows: Standing[] }>(
    `select v.status as known_status, v.version as known_version, v.frames_published,
            i.stored as frames_stored, i.attempt, i.attempt_stored as attempt_frames_stored, i.max_seq as largest_seq,
            i.end_status, i.ended_at as end_in_force_at, i.pending_until, i.deleted_at
       from (select :taskId::uuid as task_id) as asked
       left join task_views as v using (task_id)
       left join ingests as i using (task_id)
      where v.task_id is not null or i.task_id is not null`,
    { taskId },
  );
  return rows[0];
}
