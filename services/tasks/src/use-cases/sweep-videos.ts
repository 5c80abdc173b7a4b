import { withoutTask } from '../db/retention.ts';
import { VIDEO_PREFIX } from './create-upload-task.ts';
import type { Deps } from './deps.ts';

const PAGE = 500;

/**
 * Removes stored videos that no task has a use for and uploads that were never finished, once they are older than any upload
 * takes: what a killed process may have left.
 */
export async function sweepVideos({
  db,
  objects,
  limits,
  signals,
}: Pick<Deps, 'db' | 'objects' | 'limits' | 'signals'>): Promise<{ orphans: number; incomplete_uploads: number }> {
  const cutOff = Date.now() - limits.orphanAgeMs;
  let orphans = 0;
  let page: string[] = [];
  const flush = async () => {
    const unused = await withoutTask(db, page);
    await objects.remove(unused);
    orphans += unused.length;
    page = [];
  };
  for await (const { key, modifiedAt } of objects.list(VIDEO_PREFIX)) {
    if (modifiedAt.getTime() <= cutOff) page.push(key);
    if (page.length >= PAGE) await flush();
  }
  if (page.length > 0) await flush();
  if (orphans > 0) signals.alarm('orphans_removed');
  return { orphans, incomplete_uploads: await objects.abortIncomplete(VIDEO_PREFIX, limits.orphanAgeMs) };
}
