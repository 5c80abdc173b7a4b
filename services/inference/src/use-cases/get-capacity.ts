import { giveUpFeature, streamProbesFeature } from '@vision/contracts/inference';
import type { CapacityReply } from '@vision/contracts/inference';
import { countActive } from '../db/jobs.ts';
import { totalPlaces } from '../db/workers.ts';
import { roomFor } from '../domain/room.ts';
import type { Deps } from './deps.ts';

/**
 * Optional parts of the contract that this backend has. `sources`: it publishes snapshots of the sources of jobs.
 * `snapshots`: jobs can have images of their video. `give_up`: jobs of live streams take `give_up_after_s`.
 */
const features = ['sources', 'snapshots', giveUpFeature, streamProbesFeature];

/** What the workers together can take, as they measure it, and how much of it is free. */
export async function getCapacity({
  db,
  settings,
  sandbox,
}: Pick<Deps, 'db' | 'settings' | 'sandbox'>): Promise<CapacityReply> {
  const [active, places] = await Promise.all([countActive(db), totalPlaces(db, settings.workerSeenMs)]);
  const free = sandbox.canRun ? roomFor(places, active) : { stream: 0, object: 0 };
  return { free, places: { stream: Math.min(places.live, places.jobs), object: places.files }, features };
}
