import { passTo } from './partition-cursors.ts';
import type { PartitionCursor } from './partition-cursors.ts';
import { Displaced, movePositions } from './positions.ts';
import { inOneTransaction } from './progress.ts';
import type { EffectTransaction, ProgressDeps, Records } from './progress.ts';

/**
 * Handles records of several partitions in one transaction with all their positions. It is tried once, and only where
 * each partition goes on from where it left off.
 * @returns false when nothing was done, or whether it was is not known: each is to be passed by itself, which finds out
 */
export async function passTogether(
  deps: ProgressDeps,
  parts: readonly Records[],
  work: (transaction: EffectTransaction) => Promise<void>,
): Promise<boolean> {
  const cursors = parts.map((records) => deps.cursors.find(records));
  if (!cursors.every(goesOn)) return false;
  const spans = parts.map((records, at) => ({ ...records, from: (cursors[at] as PartitionCursor).leftOff }));
  for (const cursor of cursors) cursor.isBusy = true;
  try {
    await inOneTransaction(
      deps,
      async (tx) => {
        if (!(await movePositions(tx, deps.kafka.nameOf(deps.groupId), spans))) throw new Displaced(undefined);
      },
      work,
    );
  } catch (error) {
    deps.kafka.logger.debug(
      { group: deps.groupId, partitions: parts.length, err: error },
      'partitions are handled in transactions of their own',
    );
    return false;
  } finally {
    for (const cursor of cursors) cursor.isBusy = false;
  }
  for (const [at, { topic, partition, next }] of parts.entries()) {
    passTo(cursors[at] as PartitionCursor, next);
    deps.control.commitSoon(topic, partition, next);
  }
  return true;
}

/** Nothing is known of it but where it left off. */
const goesOn = (cursor: PartitionCursor | undefined): cursor is PartitionCursor =>
  cursor !== undefined &&
  cursor.hasRow &&
  !cursor.isStale &&
  cursor.holeUpTo === undefined &&
  cursor.search === undefined &&
  cursor.accepted === undefined &&
  cursor.rereadUpTo === undefined;
