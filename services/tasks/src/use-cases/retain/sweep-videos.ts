import { firstIdAt } from '@vision/contracts/ids';
import { databaseNow } from '@vision/shared/db/clock';
import { decide } from '@vision/objects/bucket-owner';
import type { Decision } from '@vision/objects/bucket-owner';
import { sweepAll, sweepInTurn } from '@vision/creation/sweep';
import type { Sweep } from '@vision/creation/sweep';
import { withoutTask } from '../../db/retention.ts';
import { VIDEO_PREFIX } from '../../domain/video-key.ts';
import type { Deps } from '../deps.ts';

/** Name of stored videos among the objects of the bucket. */
export const VIDEOS = 'videos';

export type SweepDeps = Pick<Deps, 'db' | 'logger' | 'store' | 'settings' | 'signals'>;

export interface SweptVideos {
  orphans: number;
  incompleteUploads: number;
}

/**
 * Removes stored videos that no task needs, and unfinished uploads, once they are older than any upload takes: remains
 * of a killed process. The store dates objects; the difference between its clock and that of the database is small
 * against that age, and a video that is being uploaded has a draft, independent of its date. Undefined when another
 * replica sweeps.
 */
export async function sweepVideosInTurn(
  deps: SweepDeps,
  turn: { everyMs: number; signal?: AbortSignal },
): Promise<SweptVideos | undefined> {
  const orphans = await sweepInTurn(videosOf(deps), turn);
  return orphans === undefined ? undefined : finish(deps, orphans);
}

/** Sweeps all stored videos at once. */
export async function sweepAllVideos(deps: SweepDeps): Promise<SweptVideos> {
  return finish(deps, await sweepAll(videosOf(deps)));
}

/** The store lists unfinished uploads itself, so they need no other listing. */
async function finish({ db, store, settings, signals }: SweepDeps, orphans: number): Promise<SweptVideos> {
  if (orphans > 0) signals.orphansRemoved(orphans);
  const cutOff = new Date((await databaseNow(db)).getTime() - settings.orphanAgeMs);
  return { orphans, incompleteUploads: await store.abortIncomplete(VIDEO_PREFIX, cutOff) };
}

export const videosOf = ({ db, logger, store, settings }: SweepDeps): Sweep => ({
  db,
  logger,
  store,
  name: VIDEOS,
  prefix: VIDEO_PREFIX,
  firstKeyAt: firstIdAt,
  ageMs: settings.orphanAgeMs,
  uploadMs: settings.bodyTotalMs,
  fullEveryMs: settings.fullSweepMs,
  graceMs: settings.sweepGraceMs,
  findUnused: (keys) => withoutTask(db, keys),
});

/** Records the decision of an operator about this database and the bucket. */
export const decideAboutVideos = ({ db }: Pick<Deps, 'db'>, decision: Decision): Promise<void> =>
  decide(db, VIDEOS, decision);
