import type { Knex } from 'knex';
import type { PartitionLag } from '@vision/contracts/status';
import type { KafkaClient } from './kafka.ts';
import { positionKey, readPositions } from './positions.ts';

/** A consumer group and what it reads; names without prefix. */
export interface ConsumedTopics {
  group: string;
  topics: readonly string[];
}

/**
 * How far each group is behind the end of each partition. The position in the database counts, because a record is
 * handled when it stands there; a partition without one was not read yet.
 */
export async function readLag({
  db,
  kafka: { kafka, nameOf },
  groups,
}: {
  db: Knex;
  kafka: KafkaClient;
  groups: readonly ConsumedTopics[];
}): Promise<PartitionLag[]> {
  const admin = kafka.admin({ retry: { retries: 0 } });
  try {
    await admin.connect();
    const lags: PartitionLag[] = [];
    for (const { group, topics } of groups) {
      const positions = await readPositions(db, nameOf(group));
      for (const topic of topics) {
        for (const { partition, low, high } of await admin.fetchTopicOffsets(nameOf(topic))) {
          const position = positions.get(positionKey({ topic: nameOf(topic), partition })) ?? BigInt(low);
          lags.push({ group, topic, partition, lag: Math.max(0, Number(BigInt(high) - position)) });
        }
      }
    }
    return lags;
  } finally {
    await admin.disconnect();
  }
}
