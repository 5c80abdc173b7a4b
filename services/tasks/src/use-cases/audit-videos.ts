import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences, setMark, windowOf } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { firstIdAt } from '@vision/shared/contracts/ids';
import { videosOf, videosSubmitted } from '../db/audit.ts';
import type { StoredVideo } from '../db/audit.ts';
import { withoutTask } from '../db/retention.ts';
import { VIDEO_PREFIX, videoKeyOf } from '../domain/video-key.ts';
import type { Deps } from './deps.ts';

type AuditDeps = Pick<Deps, 'db' | 'store' | 'settings'>;

// Longer than any transaction takes, so no submission appears behind the mark.
const LAG_MS = 30_000;

/** Tasks whose video is not in the object store; each is looked at once, after its submission. */
export function auditMissingVideos({ db, store, settings }: AuditDeps): Audit {
  const kind = 'video_missing';
  const missing = async (videos: StoredVideo[]): Promise<Found[]> => {
    const found: Found[] = [];
    for (const { taskId, objectKey } of videos)
      if (!(await store.stat(objectKey)))
        found.push({ id: taskId, details: { task_id: taskId, object_key: objectKey } });
    return found;
  };
  return {
    kind,
    find: async () => {
      const window = await windowOf(db, kind, Math.min(LAG_MS, settings.auditAgeMs));
      await noteDifferences(db, kind, await missing(await videosSubmitted(db, window)));
      await setMark(db, kind, window.to);
      return false;
    },
    confirm: async (taskIds) => missing(await videosOf(db, taskIds)),
  };
}

const PAGE = 500;

/**
 * Stored videos that no task has: those that are new, once they are older than any upload takes. Their keys hold the
 * ids of tasks and so are in the order of time.
 */
export function auditUnusedVideos({ db, store, settings }: AuditDeps): Audit {
  const kind = 'video_without_task';
  const unused = async (keys: string[]): Promise<Found[]> =>
    (await withoutTask(db, keys)).map((key) => ({ id: key, details: { task_id: key.slice(VIDEO_PREFIX.length) } }));
  return {
    kind,
    find: async () => {
      const { from, to } = await windowOf(db, kind, settings.bodyTotalMs + settings.auditAgeMs);
      let page: string[] = [];
      for await (const { key } of store.list(VIDEO_PREFIX, videoKeyOf(firstIdAt(from)))) {
        if (key >= videoKeyOf(firstIdAt(to))) break;
        page.push(key);
        if (page.length < PAGE) continue;
        await noteDifferences(db, kind, await unused(page));
        page = [];
      }
      await noteDifferences(db, kind, await unused(page));
      await setMark(db, kind, to);
      return false;
    },
    confirm: async (keys) => {
      const there: string[] = [];
      for (const key of keys) if (await store.stat(key)) there.push(key);
      return unused(there);
    },
  };
}
