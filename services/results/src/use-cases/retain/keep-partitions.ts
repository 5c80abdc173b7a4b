import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { addPartitions, dayTables, partitionDays, today } from '../../db/partitions.ts';
import { addDays } from '../../domain/task-day.ts';

export interface PartitionKeeper {
  /**
   * Ensures that frames of these days can be stored.
   * @returns the days whose results have expired; their partitions are dropped, or will be soon.
   * @throws Error for a day in the far future: this system did not generate such an id.
   */
  ensure: (days: string[]) => Promise<Set<string>>;
  /** Creates the partitions of today and the next days, so that no frame has to wait for one. */
  prepareAhead: () => Promise<void>;
}

const DAYS_AHEAD = 2;
/** Time for which the day of the database is cached. */
const DAY_CACHE_MS = 30_000;

/** Whether every task created on `day` has expired on the day `currently`. */
export const isExpired = (day: string, currently: string, retentionDays: number) =>
  addDays(day, retentionDays + 1) <= currently;

export function createPartitionKeeper(db: Knex, retentionDays: number): PartitionKeeper {
  const ready = new Set<string>();
  let lastRead = { day: '', at: -Infinity };
  const currentDay = async () => {
    const now = performance.now();
    if (now - lastRead.at > DAY_CACHE_MS) lastRead = { day: await today(db), at: now };
    return lastRead.day;
  };
  const make = async (day: string) => {
    if (ready.has(day)) return;
    await inTransaction(db, (tx) => addPartitions(tx, day));
    ready.add(day);
  };
  return {
    ensure: async (days) => {
      const currently = await currentDay();
      const expired = new Set(days.filter((day) => isExpired(day, currently, retentionDays)));
      for (const day of new Set(days)) {
        if (day > addDays(currently, DAYS_AHEAD))
          throw new Error(`a frame of a task of ${day}, which is in the future`);
        if (!expired.has(day)) await make(day);
      }
      return expired;
    },
    prepareAhead: async () => {
      const currently = await today(db);
      for (let ahead = 0; ahead <= DAYS_AHEAD; ahead += 1) await make(addDays(currently, ahead));
      // Other replicas may drop partitions, so the list is read again from time to time.
      const days = await Promise.all(dayTables.map(async (table) => new Set(await partitionDays(db, table))));
      for (const day of ready) if (!days.every((existing) => existing.has(day))) ready.delete(day);
    },
  };
}
