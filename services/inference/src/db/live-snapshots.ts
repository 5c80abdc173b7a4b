import type { Knex } from 'knex';
import type { Fence } from './held-jobs.ts';

/** The newest frame of a live stream, encoded. */
export interface StoredSnapshot {
  jpeg: Buffer;
  width: number;
  height: number;
  frameTimeMs: number;
}

/** A connection that hangs must not hold up the frames behind it. */
const STATEMENT_MS = 2_000;

/**
 * Records that the newest frame of a job is wanted for so long. A job that is wanted for most of that time already is
 * not written to.
 *
 * @returns whether the row was written
 */
export async function wantSnapshot(db: Knex, jobId: string, wantedMs: number): Promise<boolean> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `update jobs set snapshot_wanted_until = now() + make_interval(secs => :wantedS)
      where job_id = :jobId
        and (snapshot_wanted_until is null or snapshot_wanted_until < now() + make_interval(secs => :wantedS * 2 / 3))`,
    { jobId, wantedS: wantedMs / 1000 },
  );
  return rowCount > 0;
}

/** Replaces the stored frame of a job, if the job belongs to this holder. */
export async function storeSnapshot(
  db: Knex,
  { jobId, attempt, claim }: Fence,
  { jpeg, width, height, frameTimeMs, ageMs }: StoredSnapshot & { ageMs: number },
): Promise<boolean> {
  const inserting = db.raw<{ rowCount: number }>(
    `insert into live_snapshots (job_id, claim, jpeg, width, height, frame_time_ms, taken_at)
     select job_id, claim, :jpeg, :width, :height, :frameTimeMs, now() - make_interval(secs => :ageS)
       from jobs where job_id = :jobId and attempt = :attempt and claim = :claim and ending is null
     on conflict (job_id) do update
        set claim = excluded.claim, jpeg = excluded.jpeg, width = excluded.width, height = excluded.height,
            frame_time_ms = excluded.frame_time_ms, taken_at = excluded.taken_at`,
    { jobId, attempt, claim, jpeg, width, height, frameTimeMs, ageS: ageMs / 1000 },
  );
  const { rowCount } = await inserting.timeout(STATEMENT_MS);
  return rowCount > 0;
}

/** The stored frame of a job that is not older. */
export async function findSnapshot(db: Knex, jobId: string, maxAgeMs: number): Promise<StoredSnapshot | undefined> {
  const { rows } = await db.raw<{ rows: (Omit<StoredSnapshot, 'frameTimeMs'> & { frame_time_ms: string })[] }>(
    `select jpeg, width, height, frame_time_ms from live_snapshots
      where job_id = :jobId and taken_at > now() - make_interval(secs => :maxAgeS)`,
    { jobId, maxAgeS: maxAgeMs / 1000 },
  );
  const [row] = rows;
  return row && { jpeg: row.jpeg, width: row.width, height: row.height, frameTimeMs: Number(row.frame_time_ms) };
}

/** Removes what this holder stored; another one may have replaced it. */
export async function removeSnapshot(db: Knex, { jobId, claim }: Fence): Promise<void> {
  await db('live_snapshots').where({ job_id: jobId, claim }).delete().timeout(STATEMENT_MS);
}

/** Removes what workers left that have died. */
export async function removeOldSnapshots(db: Knex, ageMs: number): Promise<void> {
  await db('live_snapshots')
    .whereRaw('taken_at < now() - make_interval(secs => ?)', [ageMs / 1000])
    .delete();
}
