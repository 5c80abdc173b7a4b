import { insertBeginnings, positionKey, readPositions } from './positions.ts';
import { beginningOf, beginsAnew, rewind } from './progress.ts';
import type { ProgressDeps } from './progress.ts';

/**
 * Compares the positions of partitions at rest with their rows. Records are compared in their transactions; without
 * this, a partition in which nothing new arrives would keep the holes of a failover.
 */
export async function comparePositions(deps: ProgressDeps): Promise<void> {
  const { db, kafka, groupId, cursors } = deps;
  await beginPartitions(deps);
  const before = new Map([...cursors.all()].map(([key, { leftOff }]) => [key, leftOff]));
  const rows = await readPositions(db, kafka.nameOf(groupId));
  for (const [key, cursor] of cursors.all()) {
    // What moved meanwhile was compared when it moved.
    const hasMoved = () => cursor.isBusy || cursor.leftOff !== before.get(key);
    const row = rows.get(key);
    if (hasMoved() || (row === undefined && !cursor.hasRow)) continue;
    const goTo = row ?? (await beginningOf(deps, cursor));
    if (hasMoved()) continue;
    if (goTo < cursor.leftOff) rewind(deps, cursor, row, goTo);
    else if (row === undefined) beginsAnew(cursor);
    else cursor.hasRow = true;
  }
}

/**
 * A partition from which nothing came yet goes on where the group committed, or begins at its earliest record. Its row
 * says so from now on: without one in it, a database that is set back could not tell what it has to read again.
 */
async function beginPartitions({ db, kafka, groupId, cursors, rebuilds = false }: ProgressDeps): Promise<void> {
  const unknown = cursors.unknown();
  if (unknown.length === 0) return;
  const admin = kafka.kafka.admin();
  await admin.connect();
  try {
    const topics = [...new Set(unknown.map(({ topic }) => topic))];
    const committed = await admin.fetchOffsets({ groupId: kafka.nameOf(groupId), topics });
    const lows = new Map<string, bigint>();
    for (const topic of topics)
      for (const { partition, low } of await admin.fetchTopicOffsets(topic))
        lows.set(positionKey({ topic, partition }), BigInt(low));
    const begun = unknown.map(({ topic, partition }) => {
      const offsets = committed.find((one) => one.topic === topic)?.partitions;
      const offset = BigInt(offsets?.find((one) => one.partition === partition)?.offset ?? -1);
      const low = lows.get(positionKey({ topic, partition })) ?? 0n;
      return { topic, partition, committed: offset, next: rebuilds || offset < low ? low : offset };
    });
    await insertBeginnings(db, kafka.nameOf(groupId), begun);
    for (const { topic, partition, committed: offset } of begun) cursors.learn({ topic, partition }, offset);
  } finally {
    await admin.disconnect();
  }
}
