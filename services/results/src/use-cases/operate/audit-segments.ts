import { auditObjects } from '@vision/shared/audit/audit-objects';
import type { Audit } from '@vision/shared/audit/auditor';
import { objectsMade, stillIndexed } from '../../db/segment-objects.ts';
import type { DatedSegment, StoredObject } from '../../db/segment-objects.ts';
import { placeOfKey } from '../../domain/segments/segment-key.ts';
import type { Deps } from '../deps.ts';

// Longer than any transaction, so no segment appears before the mark.
const LAG_MS = 30_000;

/** Finds segments whose object is not in the store; each is checked once, after it was stored. */
export function auditSegments({ db, store, settings }: Pick<Deps, 'db' | 'settings' | 'store'>): Audit {
  return auditObjects<StoredObject, DatedSegment>({
    db,
    kind: 'segment_missing',
    lagMs: Math.min(LAG_MS, settings.auditAgeMs),
    findPage: (page) => objectsMade(db, page),
    findAgain: (keys) => stillIndexed(db, keys.flatMap(placeOfKey)),
    has: store.has,
    toFound: ({ taskId, objectKey }) => ({ id: objectKey, details: { task_id: taskId, object_key: objectKey } }),
  });
}
