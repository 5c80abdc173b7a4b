import type { Knex } from 'knex';

/** Reports that this worker lives and how many jobs it takes; removes workers that are long gone. */
export async function reportWorker(db: Knex, worker: { id: string; capacity: number }): Promise<void> {
  await db('workers')
    .insert({ worker_id: worker.id, capacity: worker.capacity, seen_at: db.fn.now() })
    .onConflict('worker_id')
    .merge();
  await db('workers').whereRaw(`seen_at < now() - interval '1 hour'`).delete();
}

export async function removeWorker(db: Knex, id: string): Promise<void> {
  await db('workers').where({ worker_id: id }).delete();
}

/** Lets one transaction after the other count the places. */
export async function lockCapacity(tx: Knex.Transaction): Promise<void> {
  await tx.raw(`select pg_advisory_xact_lock(hashtextextended('inference-capacity', 0))`);
}

/** Jobs that all workers seen within `withinMs` can take together. */
export async function totalCapacity(db: Knex, withinMs: number): Promise<number> {
  const rows = await db('workers')
    .whereRaw('seen_at > now() - make_interval(secs => ?)', [withinMs / 1000])
    .sum<{ capacity: string | number | null }[]>({ capacity: 'capacity' });
  return Number(rows[0]?.capacity ?? 0);
}
