import type { Decision } from '@vision/objects/bucket-owner';
import type { Deps } from '../deps.ts';
import { decideAboutSegments } from '../retain/owned-segments.ts';
import { decideAboutTrackSnapshots } from '../retain/sweep-track-snapshots.ts';

/** Records an operator's decision about this database and its objects in the bucket. */
export async function decideAboutBucket(deps: Pick<Deps, 'db'>, decision: Decision): Promise<void> {
  await decideAboutSegments(deps, decision);
  await decideAboutTrackSnapshots(deps, decision);
}
