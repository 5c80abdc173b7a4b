import { firstIdAt } from '@vision/contracts/ids';
import { databaseNow } from '@vision/shared/db/clock';
import { decide } from '@vision/objects/bucket-owner';
import type { Decision } from '@vision/objects/bucket-owner';
import { sweepAll, sweepInTurn } from '@vision/creation/sweep';
import type { Sweep } from '@vision/creation/sweep';
import { withoutTask } from '../../db/retention.ts';
import { VIDEO_PREFIX } from '../../domain/video-key.ts';
import type { Deps } from '../deps.ts';

/** Names stored videos among the objects of the bucket. */
export const VIDEOS = 'videos';

export type SweepDeps = Pick<Deps, 'db' | 'logger' | 'store' | 'settings' | 'signals'>;

export interface SweptVideos {
  orphans: number;
  incompleteUploads: number;
}

/**
 * Removes stored videos that no task has a use for and uploads that were never finished, once they are older than any
 * upload takes: what a killed process may have left. Objects are dated by the store; what its clock and the
 * database's differ by is small against that age, and a video whose upload is in progress has a draft, whatever its
 * date. Undefined when another replica does it.
 */
export async function sweepVideosInTurn(
  deps: SweepDeps,
  turn: { everyMs: number; signal?: AbortSignal },
): Promise<SweptVideos | undefined> {
  const orphans = await sweepInTurn(videosOf(deps), turn);
  return orphans === undefined ? undefined : finish(deps, orphans);
}

/** The same with all stored videos, now. */
export async function sweepAllVideos(deps: SweepDeps): Promise<SweptVideos> {
  return finish(deps, await sweepAll(videosOf(deps)));
}

/** The store keeps a list of its own of unfinished uploads, so nothing else is listed for them. */
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

/** Notes what an operator decides about this database and the bucket. */
export const decideAboutVideos = ({ db }: Pick<Deps, 'db'>, decision: Decision): Promise<void> =>
  decide(db, VIDEOS, decision);
