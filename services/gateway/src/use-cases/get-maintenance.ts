import { readMaintenance } from '../db/settings.ts';
import type { Maintenance } from '../domain/maintenance.ts';
import type { Deps } from './deps.ts';

/** The switch in the database; this replica follows it within a second. */
export async function getMaintenance({ db }: Pick<Deps, 'db'>): Promise<Maintenance> {
  return readMaintenance(db);
}
