import { firstIdAt } from '@vision/contracts/ids';
import { TRACK_SNAPSHOT_PREFIX, TRACK_SNAPSHOTS } from '@vision/contracts/track-snapshots';
import { sweepAll, sweepInTurn, tellNothingToSweep } from '@vision/creation/sweep';
import type { Sweep } from '@vision/creation/sweep';
import { decide } from '@vision/objects/bucket-owner';
import type { Decision } from '@vision/objects/bucket-owner';
import { findUnknownImages, writerOf } from '../../db/track-snapshots.ts';
import type { Deps } from '../deps.ts';

type SweepDeps = Pick<Deps, 'db' | 'logger' | 'settings' | 'store'>;

/**
 * Removes images of tracks without a row: their event was lost, or their worker died before it sent one. Inference
 * writes the objects; its events have the prefix of this installation. Before the first event there is none to remove.
 * Returns the number of removed images.
 */
export async function sweepTrackSnapshots(
  deps: SweepDeps,
  turn: { everyMs: number; signal?: AbortSignal },
): Promise<number> {
  const sweep = await sweepOf(deps);
  if (sweep) return (await sweepInTurn(sweep, turn)) ?? 0;
  tellNothingToSweep(TRACK_SNAPSHOTS);
  return 0;
}

/** The same for all images, now. */
export async function sweepAllTrackSnapshots(deps: SweepDeps): Promise<number> {
  const sweep = await sweepOf(deps);
  return sweep ? sweepAll(sweep) : 0;
}

async function sweepOf({ db, logger, settings, store: { bucket: store } }: SweepDeps): Promise<Sweep | undefined> {
  if ((await writerOf(db, TRACK_SNAPSHOTS)) === undefined) return undefined;
  return { db, logger, store, ...common(settings), findUnused: (keys) => findUnknownImages(db, keys) };
}

const common = ({ orphanAgeMs: ageMs, sweepGraceMs: graceMs, fullSweepMs: fullEveryMs }: Deps['settings']) => ({
  name: TRACK_SNAPSHOTS,
  prefix: TRACK_SNAPSHOT_PREFIX,
  firstKeyAt: (instant: Date) => `${instant.toISOString().slice(0, 10)}/${firstIdAt(instant)}`,
  ageMs,
  // Images arrive as long as their task runs, so those of long tasks are found by a sweep of all images.
  uploadMs: 0,
  fullEveryMs,
  graceMs,
});

/** Records an operator's decision about this database and the images in the bucket. */
export async function decideAboutTrackSnapshots({ db }: Pick<Deps, 'db'>, decision: Decision): Promise<void> {
  if ((await writerOf(db, TRACK_SNAPSHOTS)) !== undefined) await decide(db, TRACK_SNAPSHOTS, decision);
}
