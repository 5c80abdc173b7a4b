import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopAll } from './down.ts';
import { dataDir, say, type Settings } from './settings.ts';

/** Stops everything of this copy and of its copy for tests, and removes all their data. */
export async function clean(settings: Settings): Promise<void> {
  const testCopy = { ...settings, localDir: join(settings.localDir, 'test') };
  for (const copy of [testCopy, settings]) {
    await stopAll(copy);
    // The data folder may be a link to a place that PostgreSQL's own user can reach.
    const database = dataDir(copy, 'postgres');
    if (existsSync(database)) rmSync(realpathSync(database), { recursive: true, force: true });
    rmSync(copy.localDir, { recursive: true, force: true });
  }
  say('clean', `${settings.localDir} is gone`);
}
