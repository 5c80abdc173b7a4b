import type { KafkaClient } from './kafka.ts';
import type { Places } from './places.ts';
import { readPositions } from './positions.ts';
import { beginningOf, beginsAnew, rewind } from './progress.ts';
import type { ProgressDeps } from './progress.ts';

/**
 * Compares the positions of partitions at rest with their rows. Records are compared in their transactions; without
 * this, a partition in which nothing new arrives would keep the holes of a failover.
 */
export async function comparePositions(deps: ProgressDeps): Promise<void> {
  const { db, kafka, groupId, places } = deps;
  await learnWhereTheyBegin(kafka, groupId, places);
  const before = new Map([...places.all()].map(([key, { leftOff }]) => [key, leftOff]));
  const rows = await readPositions(db, kafka.nameOf(groupId));
  for (const [key, place] of places.all()) {
    // What moved meanwhile was compared when it moved.
    const hasMoved = () => place.isBusy || place.leftOff !== before.get(key);
    const row = rows.get(key);
    if (hasMoved() || (row === undefined && !place.hasRow)) continue;
    const goTo = row ?? (await beginningOf(deps, place));
    if (hasMoved()) continue;
    if (goTo < place.leftOff) rewind(deps, place, row, goTo);
    else if (row === undefined) beginsAnew(place);
    else place.hasRow = true;
  }
}

/** A partition from which nothing came yet goes on where the group committed. */
async function learnWhereTheyBegin({ kafka, nameOf }: KafkaClient, groupId: string, places: Places): Promise<void> {
  const unknown = places.unknown();
  if (unknown.length === 0) return;
  const admin = kafka.admin();
  await admin.connect();
  try {
    const topics = [...new Set(unknown.map(({ topic }) => topic))];
    const committed = await admin.fetchOffsets({ groupId: nameOf(groupId), topics });
    for (const { topic, partition } of unknown) {
      const offsets = committed.find((one) => one.topic === topic)?.partitions;
      places.learn({ topic, partition }, BigInt(offsets?.find((one) => one.partition === partition)?.offset ?? -1));
    }
  } finally {
    await admin.disconnect();
  }
}
