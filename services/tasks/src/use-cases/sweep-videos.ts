import { databaseNow } from '@vision/shared/db/clock';
import { withoutTask } from '../db/retention.ts';
import { VIDEO_PREFIX } from '../domain/video-key.ts';
import type { Deps } from './deps.ts';

const PAGE = 500;

/**
 * Removes stored videos that no task has a use for and uploads that were never finished, once they are older than any
 * upload takes: what a killed process may have left. Objects are dated by the store; what its clock and the
 * database's differ by is small against that age, and a video whose upload is under way has a draft whatever its date
 * says.
 */
export async function sweepVideos({
  db,
  store,
  settings,
  signals,
}: Pick<Deps, 'db' | 'store' | 'settings' | 'signals'>): Promise<{ orphans: number; incompleteUploads: number }> {
  const cutOff = new Date((await databaseNow(db)).getTime() - settings.orphanAgeMs);
  let orphans = 0;
  let page: string[] = [];
  const removeUnused = async () => {
    const unused = await withoutTask(db, page);
    await store.remove(unused);
    orphans += unused.length;
    page = [];
  };
  for await (const { key, modifiedAt } of store.list(VIDEO_PREFIX)) {
    if (modifiedAt <= cutOff) page.push(key);
    if (page.length >= PAGE) await removeUnused();
  }
  if (page.length > 0) await removeUnused();
  if (orphans > 0) signals.orphansRemoved(orphans);
  return { orphans, incompleteUploads: await store.abortIncomplete(VIDEO_PREFIX, cutOff) };
}
