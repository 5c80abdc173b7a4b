import type { Knex } from 'knex';
import { topics } from '@vision/shared/contracts/topics';
import type { KafkaClient } from '@vision/shared/messaging/kafka';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import { askDatabase, askKafka, askStore } from '@vision/shared/status/checks';
import { createStatus as createReader } from '@vision/shared/status/status';
import type { StatusReader } from '@vision/shared/status/status';
import { migrations } from './db/migrations/list.ts';

/** Builds what tells operators how this process stands. */
export function createStatus({ db, kafka, store }: { db: Knex; kafka: KafkaClient; store: ObjectStore }): StatusReader {
  return createReader({
    service: 'inference',
    checks: {
      database: askDatabase(db, migrations),
      kafka: askKafka(kafka, [topics.frames, topics.jobs]),
      object_store: askStore(store),
    },
  });
}
