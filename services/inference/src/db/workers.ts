import type { Knex } from 'knex';
import { filePlacesOf } from '../domain/room.ts';
import type { Places } from '../domain/room.ts';
import { ANY_DUE } from './jobs.ts';

/** Reply to the heartbeat of a worker. */
export interface Surroundings {
  /** No other worker was seen for some time. */
  isAlone: boolean;
  /** A job may be claimed. */
  isAnyDue: boolean;
}

export interface WorkerReport {
  id: string;
  capacity: number;
  livePlaces: number;
  /** Left out: as many as live streams leave. */
  filePlaces?: number | undefined;
  seenMs: number;
  leaseMs: number;
}

/**
 * Reports that this worker lives and how many jobs it takes, removes workers that are long gone, and looks around, all
 * in one statement. What lies further ahead than any lease was written while the clock of the database was ahead: such
 * a lease is shortened, such a worker is gone.
 */
export async function reportWorker(
  db: Knex,
  { id, capacity, livePlaces, filePlaces, seenMs, leaseMs }: WorkerReport,
): Promise<Surroundings> {
  const { rows } = await db.raw<{ rows: [Surroundings] }>(
    `with reported as (
       insert into workers (worker_id, capacity, live_places, file_places, seen_at)
       values (:id, :capacity, :livePlaces, :filePlaces, now())
       on conflict (worker_id) do update set capacity = excluded.capacity, live_places = excluded.live_places,
                                             file_places = excluded.file_places,
                                             seen_at = excluded.seen_at),
     removed as (
       delete from workers
        where worker_id <> :id and seen_at not between now() - interval '1 hour' and now() + interval '1 minute'),
     shortened as (
       update jobs set lease_until = now() + make_interval(secs => :leaseS)
        where status in ('queued', 'running', 'stopping') and lease_until > now() + make_interval(secs => 2 * :leaseS))
     select not exists (select from workers
                         where worker_id <> :id and seen_at > now() - make_interval(secs => :seenS)) as "isAlone",
            ${ANY_DUE} as "isAnyDue"`,
    { id, capacity, livePlaces, filePlaces: filePlaces ?? null, seenS: seenMs / 1000, leaseS: leaseMs / 1000 },
  );
  return rows[0];
}

export async function removeWorker(db: Knex, id: string): Promise<void> {
  await db('workers').where({ worker_id: id }).delete();
}

/** Lets one transaction after the other count the places. */
export async function lockCapacity(tx: Knex.Transaction): Promise<void> {
  await tx.raw(`select pg_advisory_xact_lock(hashtextextended('inference-capacity', 0))`);
}

interface WorkerRow {
  capacity: number;
  live_places: number | null;
  file_places: number | null;
}

/** Jobs that all workers seen within `withinMs` can take together. */
export async function totalPlaces(db: Knex, withinMs: number): Promise<Places> {
  const { rows } = await db.raw<{ rows: WorkerRow[] }>(
    `select capacity, live_places, file_places from workers where seen_at > now() - make_interval(secs => ?)`,
    [withinMs / 1000],
  );
  const places = { jobs: 0, live: 0, files: 0 };
  for (const { capacity, live_places: live, file_places: files } of rows) {
    places.jobs += capacity;
    places.live += live ?? capacity;
    // A worker of an earlier release takes files into all of its places.
    places.files += files ?? (live === null ? capacity : filePlacesOf(capacity, live));
  }
  return places;
}
