import { claimTurn, keepTurn } from '@vision/shared/db/turns';
import type { Deps } from '../deps.ts';
import { standingOfSegments } from './owned-segments.ts';
import { runRetention } from './run-retention.ts';

type RetentionDeps = Pick<Deps, 'db' | 'logger' | 'ownPrefix' | 'partitions' | 'settings' | 'signals' | 'store'>;

const TURN = 'results_retention';

/**
 * Removes expired results on one replica at a time; every replica creates the partitions ahead. A replica that stops
 * ends between two steps, and the next turn continues.
 */
export async function retentionInTurn(
  deps: RetentionDeps,
  { everyMs, signal }: { everyMs: number; signal: AbortSignal },
): Promise<void> {
  await deps.partitions.prepareAhead();
  await showStanding(deps);
  // Half of the interval: replicas that check at slightly different times miss no turn.
  if (!(await claimTurn(deps.db, TURN, everyMs / 2))) return;
  await runRetention(deps, async () => {
    await keepTurn(deps.db, TURN);
    return !signal.aborted;
  });
}

/**
 * Every replica sets the gauge. The replica whose turn it is queries again, and fails when the store does not answer.
 */
async function showStanding(deps: RetentionDeps): Promise<void> {
  await standingOfSegments(deps).catch((error: unknown) => {
    deps.logger.debug({ err: error }, 'owner of the bucket unknown');
  });
}
