import { selectKeys } from '../db/api-keys.ts';
import type { KeyFilter } from '../db/api-keys.ts';
import type { ApiKey } from '../domain/api-key.ts';
import type { Deps } from './deps.ts';

/** Keys without their text, newest first. */
export async function listKeys({ db }: Pick<Deps, 'db'>, filter: KeyFilter): Promise<ApiKey[]> {
  return selectKeys(db, filter);
}
