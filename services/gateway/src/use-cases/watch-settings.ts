import type { Knex } from 'knex';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import type { KeyCache } from '../db/key-cache.ts';
import { readRecentChanges } from '../db/settings.ts';
import type { Maintenance } from '../db/settings.ts';

export interface SettingsWatch {
  /** Undefined until the database has answered once; the last answer while it is away. */
  maintenance: () => Maintenance | undefined;
  /** Takes over what this replica just wrote without waiting for the next round. */
  setMaintenance: (next: Maintenance) => void;
  start: () => void;
  stop: () => Promise<void>;
}

export interface WatchOptions {
  db: Knex;
  cache: KeyCache;
  intervalMs: number;
  logger: Logger;
}

/** Keeps a replica in step with what operators change elsewhere: the maintenance switch, limits, revoked keys. */
export function watchSettings({ db, cache, intervalMs, logger }: WatchOptions): SettingsWatch {
  let maintenance: Maintenance | undefined;
  const round = async () => {
    const changes = await readRecentChanges(db);
    maintenance = changes.maintenance;
    cache.forget(changes);
    return 0;
  };
  const poller = createPoller({ name: 'settings', intervalMs, logger, run: round, maxBackoffMs: intervalMs });
  return {
    maintenance: () => maintenance,
    setMaintenance: (next) => {
      maintenance = next;
    },
    start: poller.start,
    stop: poller.stop,
  };
}
