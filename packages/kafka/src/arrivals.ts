import type { Knex } from 'knex';
import type { KafkaClient } from './kafka.ts';
import { positionKey, readPositions } from './positions.ts';

/** Says up to when a consumer group has handled everything that was published to a topic. */
export interface Arrivals {
  /**
   * Unix milliseconds; undefined while the group is behind the end that the topic had when this was first asked. Asks
   * Kafka at most once in `everyMs`.
   */
  completeUntil: () => Promise<number | undefined>;
}

export interface ArrivalsOptions {
  /** The database that the group writes to: its positions count for all replicas. */
  db: Knex;
  kafka: KafkaClient;
  groupId: string;
  topic: string;
  /** Least time between two queries of Kafka. */
  everyMs: number;
}

/** The ends of the partitions of a topic at one moment; the key is topic and partition. */
interface Ends {
  atMs: number;
  next: ReadonlyMap<string, { low: bigint; high: bigint }>;
}

/** Compares the positions of a group with the ends that the partitions had before. */
export function createArrivals({ db, kafka, groupId, topic, everyMs }: ArrivalsOptions): Arrivals {
  let waitsFor: Ends | undefined;
  let completeUntilMs: number | undefined;
  let answeredAt = -Infinity;
  let isAsking = false;
  let asking: Promise<void> | undefined;
  const ask = async () => {
    waitsFor ??= await readEnds(kafka, topic);
    const positions = await readPositions(db, kafka.nameOf(groupId));
    const isReached = [...waitsFor.next].every(([key, { low, high }]) => (positions.get(key) ?? low) >= high);
    if (!isReached) return;
    completeUntilMs = waitsFor.atMs;
    waitsFor = undefined;
  };
  return {
    completeUntil: async () => {
      if (!isAsking && performance.now() - answeredAt >= everyMs) {
        isAsking = true;
        // A Kafka that swallows requests is waited for once, and all who ask in the time after that share the failure.
        asking = ask().finally(() => {
          isAsking = false;
          answeredAt = performance.now();
        });
      }
      await asking;
      return completeUntilMs;
    },
  };
}

async function readEnds({ kafka, nameOf }: KafkaClient, topic: string): Promise<Ends> {
  const admin = kafka.admin({ retry: { retries: 0 } });
  try {
    await admin.connect();
    // Read first: what is published while Kafka answers may lie behind the ends.
    const atMs = Date.now();
    const offsets = await admin.fetchTopicOffsets(nameOf(topic));
    const next = offsets.map(
      ({ partition, low, high }) =>
        [positionKey({ topic: nameOf(topic), partition }), { low: BigInt(low), high: BigInt(high) }] as const,
    );
    return { atMs, next: new Map(next) };
  } finally {
    await admin.disconnect();
  }
}
