import type { Knex } from 'knex';
import { until } from '@vision/shared/testing/until';

/** Statements of one session in its transaction. */
export type Step = (tx: Knex.Transaction) => Promise<unknown>;

/** Both sessions have begun before either commits, unless the second waits for the first. */
export async function together(db: Knex, first: Step, second: Step): Promise<void> {
  const [one, other] = [await db.transaction(), await db.transaction()];
  await first(one);
  const progress = { isDone: false };
  const following = second(other).then(() => {
    progress.isDone = true;
  });
  await until(async () => {
    const { rows } = await db.raw<{ rows: object[] }>(
      `select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`,
    );
    return progress.isDone || rows.length > 0;
  });
  await one.commit();
  await following;
  await other.commit();
}
