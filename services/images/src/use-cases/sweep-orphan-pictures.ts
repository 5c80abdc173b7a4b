import { databaseNow } from '@vision/shared/db/clock';
import { findUnfinished } from '../db/idempotency-keys.ts';
import { findStored } from '../db/image-calls.ts';
import { dayPrefix, parsePictureKey } from '../domain/picture-key.ts';
import type { Deps, Settings } from './deps.ts';

export interface SweepDeps extends Pick<Deps, 'db' | 'store' | 'signals'> {
  settings: Pick<Settings, 'orphanAgeMs' | 'retentionDays'>;
}

const DAY_MS = 86_400_000;
const WEEK = [0, 1, 2, 3, 4, 5, 6, 7];
const PAGE = 500;

/**
 * Removes pictures that no call names: stored after the call had been undone, or stored although the answer was lost.
 * Looks at the last week and at the week that has just expired, so a pause of the sweep loses nothing. Returns how many
 * were removed.
 */
export async function sweepOrphanPictures(deps: SweepDeps): Promise<number> {
  const { orphanAgeMs, retentionDays } = deps.settings;
  const now = (await databaseNow(deps.db)).getTime();
  let removed = 0;
  for (const back of [...WEEK, ...WEEK.map((day) => retentionDays + 2 + day)]) {
    let page: string[] = [];
    for await (const { key, modifiedAt } of deps.store.list(dayPrefix(new Date(now - back * DAY_MS)))) {
      if (now - modifiedAt.getTime() >= orphanAgeMs) page.push(key);
      if (page.length === PAGE) {
        removed += await removeOrphans(deps, page);
        page = [];
      }
    }
    removed += await removeOrphans(deps, page);
  }
  deps.signals.picturesRemoved(removed, 'orphaned');
  return removed;
}

async function removeOrphans({ db, store }: SweepDeps, keys: string[]): Promise<number> {
  // A store that was killed may leave a file of its own behind; its name is no picture's, so no row names it.
  const taskOf = (key: string) => parsePictureKey(key)?.taskId ?? '';
  const taskIds = [...new Set(keys.map(taskOf))].filter((taskId) => taskId !== '');
  // Unfinished calls are read first: a call that finishes in between is then found among the finished ones.
  const unfinished = new Set(await findUnfinished(db, taskIds));
  const stored = new Set(await findStored(db, taskIds));
  const orphans = keys.filter((key) => !stored.has(key) && !unfinished.has(taskOf(key)));
  await store.remove(orphans);
  return orphans.length;
}
