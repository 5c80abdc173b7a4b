import type { Knex } from 'knex';
import { consumerGroups, topics } from '@vision/contracts/topics';
import type { KafkaClient } from '@vision/kafka/kafka';
import { readLag } from '@vision/kafka/lag';
import { askKafka } from '@vision/kafka/status';
import { askDatabase } from '@vision/shared/status/checks';
import { createStatusReader } from '@vision/shared/status/status';
import type { StatusReader } from '@vision/shared/status/status';
import { migrations } from './db/migrations/list.ts';

/** Builds the status of this process for operators. */
export function createStatus({ db, kafka }: { db: Knex; kafka: KafkaClient }): StatusReader {
  return createStatusReader({
    service: 'quota',
    checks: { database: askDatabase(db, migrations), kafka: askKafka(kafka, [topics.tasks, topics.images]) },
    lag: () => readLag({ db, kafka, groups: consumerGroups.quota }),
  });
}
