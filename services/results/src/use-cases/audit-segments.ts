import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences, setMark, windowOf } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';
import { objectsMade, stillIndexed } from '../db/segment-objects.ts';
import type { StoredObject } from '../db/segment-objects.ts';
import { placeOfKey } from '../domain/segments/segment-key.ts';
import type { Deps } from './deps.ts';

const KIND = 'segment_missing';
// Longer than any transaction takes, so no segment appears behind the mark.
const LAG_MS = 30_000;

/** Segments whose object is not in the store; each is looked at once, after it was stored. */
export function auditSegments({ db, store, settings }: Pick<Deps, 'db' | 'settings' | 'store'>): Audit {
  const missing = async (objects: StoredObject[]): Promise<Found[]> => {
    const found: Found[] = [];
    for (const { taskId, objectKey } of objects)
      if (!(await store.has(objectKey)))
        found.push({ id: objectKey, details: { task_id: taskId, object_key: objectKey } });
    return found;
  };
  return {
    kind: KIND,
    find: async () => {
      const window = await windowOf(db, KIND, Math.min(LAG_MS, settings.auditAgeMs));
      await noteDifferences(db, KIND, await missing(await objectsMade(db, window)));
      await setMark(db, KIND, window.to);
      return false;
    },
    confirm: async (keys) => missing(await stillIndexed(db, keys.flatMap(placeOfKey))),
  };
}
