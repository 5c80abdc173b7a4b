import type { Knex } from 'knex';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import type { KeyCache } from '../db/key-cache.ts';
import { readRecentChanges } from '../db/settings.ts';
import type { Maintenance } from '../domain/maintenance.ts';

export interface SettingsWatch {
  /** Undefined until the database has answered once; the last answer while it is unavailable. */
  maintenance: () => Maintenance | undefined;
  /** Applies a change by this replica without waiting for the next poll. */
  setMaintenance: (next: Maintenance) => void;
  start: () => void;
  stop: () => Promise<void>;
}

export interface SettingsWatchOptions {
  db: Knex;
  keyCache: KeyCache;
  intervalMs: number;
  logger: Logger;
}

/** Applies changes by operators on other replicas: the maintenance switch, limits, revoked keys. */
export function createSettingsWatch({ db, keyCache, intervalMs, logger }: SettingsWatchOptions): SettingsWatch {
  let maintenance: Maintenance | undefined;
  const poller = createPoller({
    name: 'settings',
    intervalMs,
    logger,
    maxBackoffMs: intervalMs,
    run: async () => {
      const changes = await readRecentChanges(db);
      maintenance = changes.maintenance;
      keyCache.forget(changes);
      return 0;
    },
  });
  return {
    maintenance: () => maintenance,
    setMaintenance: (next) => {
      maintenance = next;
    },
    start: poller.start,
    stop: poller.stop,
  };
}
