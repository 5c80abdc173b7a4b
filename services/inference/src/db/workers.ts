import type { Knex } from 'knex';
import { filePlacesOf } from '../domain/room.ts';
import type { Places } from '../domain/room.ts';

/** Reports that this worker lives and how many jobs it takes; removes workers that are long gone. */
export async function reportWorker(
  db: Knex,
  worker: { id: string; capacity: number; livePlaces: number },
): Promise<void> {
  await db('workers')
    .insert({
      worker_id: worker.id,
      capacity: worker.capacity,
      live_places: worker.livePlaces,
      seen_at: db.fn.now(),
    })
    .onConflict('worker_id')
    .merge();
  await db('workers').whereRaw(`seen_at < now() - interval '1 hour'`).delete();
}

/** Whether another worker was seen within this time. */
export async function hasOthers(db: Knex, id: string, withinMs: number): Promise<boolean> {
  const others = await db('workers')
    .whereNot({ worker_id: id })
    .whereRaw('seen_at > now() - make_interval(secs => ?)', [withinMs / 1000])
    .limit(1)
    .pluck<string[]>('worker_id');
  return others.length > 0;
}

export async function removeWorker(db: Knex, id: string): Promise<void> {
  await db('workers').where({ worker_id: id }).delete();
}

/** Lets one transaction after the other count the places. */
export async function lockCapacity(tx: Knex.Transaction): Promise<void> {
  await tx.raw(`select pg_advisory_xact_lock(hashtextextended('inference-capacity', 0))`);
}

/** Jobs that all workers seen within `withinMs` can take together. */
export async function totalPlaces(db: Knex, withinMs: number): Promise<Places> {
  const { rows } = await db.raw<{ rows: { capacity: number; live_places: number | null }[] }>(
    `select capacity, live_places from workers where seen_at > now() - make_interval(secs => ?)`,
    [withinMs / 1000],
  );
  const places = { jobs: 0, live: 0, files: 0 };
  for (const { capacity, live_places: live } of rows) {
    places.jobs += capacity;
    places.live += live ?? capacity;
    // A worker of an earlier release takes files into all of its places.
    places.files += live === null ? capacity : filePlacesOf(capacity, live);
  }
  return places;
}
