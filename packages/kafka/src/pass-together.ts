import { passTo } from './places.ts';
import type { Place } from './places.ts';
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
  const places = parts.map((records) => deps.places.find(records));
  if (!places.every(goesOn)) return false;
  const spans = parts.map((records, at) => ({ ...records, from: (places[at] as Place).leftOff }));
  for (const place of places) place.isBusy = true;
  try {
    await inOneTransaction(
      deps,
      async (tx) => {
        if (!(await movePositions(tx, deps.kafka.nameOf(deps.groupId), spans))) throw new Displaced(undefined);
      },
      work,
    );
  } catch (error) {
    deps.kafka.logger.debug({ group: deps.groupId, partitions: parts.length, err: error }, 'partitions go alone');
    return false;
  } finally {
    for (const place of places) place.isBusy = false;
  }
  for (const [at, { topic, partition, next }] of parts.entries()) {
    passTo(places[at] as Place, next);
    deps.control.commitSoon(topic, partition, next);
  }
  return true;
}

/** Nothing is known of it but where it left off. */
const goesOn = (place: Place | undefined): place is Place =>
  place !== undefined &&
  place.hasRow &&
  !place.isStale &&
  place.holeUpTo === undefined &&
  place.search === undefined &&
  place.accepted === undefined &&
  place.rereadUpTo === undefined;
