import type { Knex } from 'knex';
import { consumerGroups, topics } from '@vision/contracts/topics';
import type { KafkaClient } from '@vision/kafka/kafka';
import { readLag } from '@vision/kafka/lag';
import type { Relay } from '@vision/kafka/relay';
import { askKafka, outboxStatus } from '@vision/kafka/status';
import { askDatabase } from '@vision/shared/status/checks';
import { createStatusReader } from '@vision/shared/status/status';
import type { StatusReader } from '@vision/shared/status/status';
import { migrations } from './db/migrations/list.ts';
import { readWebhookState } from './db/webhook-deliveries.ts';
import type { BusyCounts } from './use-cases/webhooks/busy-counts.ts';

export interface StatusParts {
  db: Knex;
  kafka: KafkaClient;
  relay: Relay;
  busy: BusyCounts;
}

/** Builds the status of this process for operators. */
export function createStatus({ db, kafka, relay, busy }: StatusParts): StatusReader {
  return createStatusReader({
    service: 'notify',
    checks: {
      database: askDatabase(db, migrations),
      kafka: askKafka(kafka, [topics.tasks, topics.alarms, topics.rules]),
    },
    outbox: () => outboxStatus(db, relay),
    webhooks: () => readWebhookState(db, busy.full()),
    lag: () => readLag({ db, kafka, groups: consumerGroups.notify }),
  });
}
