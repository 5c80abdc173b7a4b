import type { Knex } from 'knex';
import { topics } from '@vision/contracts/topics';
import type { KafkaClient } from '@vision/kafka/kafka';
import { askKafka } from '@vision/kafka/status';
import { askStore } from '@vision/objects/ask-store';
import type { ObjectStore } from '@vision/objects/object-store';
import { askDatabase } from '@vision/shared/status/checks';
import { createStatusReader } from '@vision/shared/status/status';
import type { StatusReader } from '@vision/shared/status/status';
import { migrations } from './db/migrations/list.ts';

/** Builds what tells operators how this process stands. */
export function createStatus({ db, kafka, store }: { db: Knex; kafka: KafkaClient; store: ObjectStore }): StatusReader {
  return createStatusReader({
    service: 'inference',
    checks: {
      database: askDatabase(db, migrations),
      kafka: askKafka(kafka, [topics.frames, topics.jobs]),
      object_store: askStore(store),
    },
  });
}
