import { auditObjects, withoutObject } from '@vision/shared/audit/audit-objects';
import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences, setMark, windowOf } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { firstIdAt } from '@vision/contracts/ids';
import { markedAmong } from '@vision/creation/sweep-marks';
import { videosOf, videosSubmitted } from '../../db/audit.ts';
import type { StoredVideo, SubmittedVideo } from '../../db/audit.ts';
import { withoutTask } from '../../db/retention.ts';
import { taskOfVideo, videoKeyOf } from '../../domain/video-key.ts';
import type { Deps } from '../deps.ts';
import { VIDEOS } from '../retain/sweep-videos.ts';

type AuditDeps = Pick<Deps, 'db' | 'ownPrefix' | 'store' | 'settings'>;

// Longer than any transaction, so no submission becomes visible behind the cursor.
const LAG_MS = 30_000;

/** Tasks whose video is not in the object store; each is checked once, after its submission. */
export function auditMissingVideos({ db, store, settings }: Pick<AuditDeps, 'db' | 'store' | 'settings'>): Audit {
  return auditObjects<StoredVideo, SubmittedVideo>({
    db,
    kind: 'video_missing',
    lagMs: Math.min(LAG_MS, settings.auditAgeMs),
    findPage: (page) => videosSubmitted(db, page),
    findAgain: (taskIds) => videosOf(db, taskIds),
    has: async (key) => (await store.stat(key)) !== undefined,
    toFound: ({ taskId, objectKey }) => ({ id: taskId, details: { task_id: taskId, object_key: objectKey } }),
  });
}

const PAGE = 500;

/**
 * Stored videos without a task: checks new ones once they are older than any upload takes. Their keys contain task ids
 * and so are ordered by time.
 */
export function auditUnusedVideos({ db, ownPrefix, store, settings }: AuditDeps): Audit {
  const kind = 'video_without_task';
  const unused = async (keys: string[]): Promise<Found[]> => {
    const free = await withoutTask(db, keys);
    // The sweep has marked these for removal.
    const marked = await markedAmong(db, VIDEOS, free);
    return free.filter((key) => !marked.has(key)).map((key) => ({ id: key, details: { task_id: taskOfVideo(key) } }));
  };
  return {
    kind,
    find: async () => {
      const { from, to } = await windowOf(db, kind, settings.bodyTotalMs + settings.auditAgeMs);
      let page: string[] = [];
      const own = await ownPrefix();
      for await (const { key } of store.list(own, videoKeyOf(own, firstIdAt(from)))) {
        if (key >= videoKeyOf(own, firstIdAt(to))) break;
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
      const rows = keys.map((objectKey) => ({ objectKey }));
      const gone = await withoutObject(rows, async (key) => (await store.stat(key)) !== undefined);
      const goneKeys = new Set(gone.map(({ objectKey }) => objectKey));
      return unused(keys.filter((key) => !goneKeys.has(key)));
    },
  };
}
