import type { Knex } from 'knex';
import type { ServiceStatus } from '@vision/contracts/status';
import type { Check } from '@vision/shared/status/status';
import type { KafkaClient } from './kafka.ts';
import { countWaiting } from './outbox-history.ts';
import type { Relay } from './relay.ts';

/** A broker answers and has the topics. */
export const askKafka =
  ({ kafka, nameOf }: KafkaClient, topics: readonly string[]): Check =>
  async () => {
    const admin = kafka.admin({ retry: { retries: 0 } });
    try {
      await admin.connect();
      const present = new Set(await admin.listTopics());
      const missing = topics.map(nameOf).filter((topic) => !present.has(topic));
      if (missing.length > 0) throw new Error(`there is no topic ${missing.join(', ')}`);
    } finally {
      await admin.disconnect();
    }
  };

/** Events of the outbox that are not published yet, and whether this process publishes them. */
export async function outboxStatus(
  db: Knex,
  relay: Pick<Relay, 'isActive'>,
): Promise<NonNullable<ServiceStatus['outbox']>> {
  return { ...(await countWaiting(db)), publishes: relay.isActive() };
}
