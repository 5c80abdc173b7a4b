import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopAll } from './down.ts';
import { dataDir, say } from './settings.ts';
import type { Settings } from './settings.ts';

/** Stops everything of this copy and of its copies for tests, and removes all their data. */
export async function clean(settings: Settings): Promise<void> {
  const folders = ['test', 'faults/test', 'beside/test', 'rotate/test', 'why/test', '.'].map((folder) =>
    join(settings.localDir, folder),
  );
  for (const copy of folders.map((localDir) => ({ ...settings, localDir }))) {
    await stopAll(copy);
    // The data folder of a PostgreSQL server may be a link to a directory that its own user can reach.
    const data = dataDir(copy, '.');
    const parts = existsSync(data) ? readdirSync(data).map((part) => join(data, part)) : [];
    for (const part of parts) if (existsSync(part)) rmSync(realpathSync(part), { recursive: true, force: true });
    rmSync(copy.localDir, { recursive: true, force: true });
  }
  say('clean', `${settings.localDir} is gone`);
}
