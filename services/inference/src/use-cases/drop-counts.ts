import type { Knex } from 'knex';
import { saveDrops } from '../db/drops.ts';
import type { HolderDrops } from '../db/drops.ts';
import { fenceKey } from '../db/held-jobs.ts';
import type { Fence } from '../db/held-jobs.ts';

/** Counts frames of live streams that were read and could not be published, for the health of their jobs. */
export interface DropCounts {
  add: (job: Fence, frames: number) => void;
  /** Stores changed counts. They wait here while the database is unavailable; storing one twice changes nothing. */
  store: () => Promise<void>;
  /** The attempt has ended here: its count is removed once it is stored. */
  close: (job: Fence) => void;
}

interface Count extends HolderDrops {
  isStored: boolean;
  isClosed: boolean;
}

export function createDropCounts(db: Knex): DropCounts {
  const counts = new Map<string, Count>();
  return {
    add: ({ jobId, attempt, claim }, frames) => {
      if (frames === 0) return;
      const key = fenceKey({ jobId, attempt, claim });
      const count = counts.get(key) ?? { jobId, attempt, claim, dropped: 0, isStored: false, isClosed: false };
      counts.set(key, { ...count, dropped: count.dropped + frames, isStored: false });
    },
    store: async () => {
      const changed = [...counts.values()].filter(({ isStored }) => !isStored);
      if (changed.length > 0) await saveDrops(db, changed);
      for (const count of changed) {
        const key = fenceKey(count);
        // If it has grown meanwhile, it is stored the next time.
        const current = counts.get(key);
        if (current?.dropped !== count.dropped) continue;
        if (current.isClosed) counts.delete(key);
        else current.isStored = true;
      }
    },
    close: (job) => {
      const key = fenceKey(job);
      const count = counts.get(key);
      if (count?.isStored) counts.delete(key);
      else if (count) count.isClosed = true;
    },
  };
}
