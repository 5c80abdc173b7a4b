import { readMaintenance } from '../db/settings.ts';
import type { Maintenance } from '../domain/maintenance.ts';
import type { Deps } from './deps.ts';

/** The switch as the database has it; what this replica goes by follows within a second. */
export async function getMaintenance({ db }: Pick<Deps, 'db'>): Promise<Maintenance> {
  return readMaintenance(db);
}
