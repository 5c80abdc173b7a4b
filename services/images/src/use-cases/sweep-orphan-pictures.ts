import { firstIdAt } from '@vision/contracts/ids';
import { decide } from '@vision/objects/bucket-owner';
import type { Decision } from '@vision/objects/bucket-owner';
import { sweepInTurn } from '@vision/creation/sweep';
import type { Sweep } from '@vision/creation/sweep';
import { findUnfinished } from '../db/idempotency-keys.ts';
import { findStored } from '../db/image-calls.ts';
import { PICTURE_PREFIX, dayOf, parsePictureKey } from '../domain/picture-key.ts';
import type { Deps, Settings } from './deps.ts';

/** Name of images among the objects of the bucket. */
export const PICTURES = 'pictures';

export interface SweepDeps extends Pick<Deps, 'db' | 'logger' | 'store' | 'signals'> {
  settings: Pick<Settings, 'callMs' | 'fullSweepMs' | 'keyWaitMs' | 'orphanAgeMs' | 'sweepGraceMs'>;
}

/**
 * Removes images that no call names: stored after the rollback of their call, or although the answer was lost. Does
 * nothing when it is the turn of another replica. Returns how many were removed.
 */
export async function sweepOrphanPictures(
  deps: SweepDeps,
  turn: { everyMs: number; signal?: AbortSignal },
): Promise<number> {
  const removed = (await sweepInTurn(picturesOf(deps), turn)) ?? 0;
  deps.signals.picturesRemoved(removed, 'orphaned');
  return removed;
}

export const picturesOf = ({ db, logger, store, settings }: SweepDeps): Sweep => ({
  db,
  logger,
  store,
  name: PICTURES,
  prefix: PICTURE_PREFIX,
  firstKeyAt: (instant) => `${dayOf(instant)}/${firstIdAt(instant)}`,
  ageMs: settings.orphanAgeMs,
  // The id is created when the upload is complete.
  uploadMs: settings.keyWaitMs + settings.callMs,
  fullEveryMs: settings.fullSweepMs,
  graceMs: settings.sweepGraceMs,
  findUnused: async (keys) => {
    // A killed object store may leave a file of its own; its name is no key of an image, so no row names it.
    const taskOf = (key: string) => parsePictureKey(key)?.taskId ?? '';
    const taskIds = [...new Set(keys.map(taskOf))].filter((taskId) => taskId !== '');
    // Unfinished calls are read first, so a call that finishes in between is found among the finished ones.
    const unfinished = new Set(await findUnfinished(db, taskIds));
    const stored = new Set(await findStored(db, taskIds));
    return keys.filter((key) => !stored.has(key) && !unfinished.has(taskOf(key)));
  },
});

/** Records the decision of an operator about this database and the bucket. */
export const decideAboutPictures = ({ db }: Pick<Deps, 'db'>, decision: Decision): Promise<void> =>
  decide(db, PICTURES, decision);
