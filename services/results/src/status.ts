import type { Knex } from 'knex';
import { consumerGroups, topics } from '@vision/contracts/topics';
import type { ServiceClient } from '@vision/shared/http/service-client';
import type { KafkaClient } from '@vision/kafka/kafka';
import { readLag } from '@vision/kafka/lag';
import type { Relay } from '@vision/kafka/relay';
import { askKafka, outboxStatus } from '@vision/kafka/status';
import { askDatabase, askService } from '@vision/shared/status/checks';
import { createStatusReader } from '@vision/shared/status/status';
import type { StatusReader } from '@vision/shared/status/status';
import { migrations } from './db/migrations/list.ts';
import type { Deps } from './use-cases/deps.ts';

export interface StatusParts {
  db: Knex;
  kafka: KafkaClient;
  relay: Relay;
  tasks: ServiceClient;
  images: ServiceClient;
  loops: Pick<Deps['loops'], 'poisoned'>;
}

/** Builds the status of this process for operators. */
export function createStatus({ db, kafka, relay, tasks, images, loops }: StatusParts): StatusReader {
  return createStatusReader({
    service: 'results',
    checks: {
      database: askDatabase(db, migrations),
      kafka: askKafka(kafka, [topics.results, topics.alarms, topics.frames, topics.tasks, topics.jobs, topics.rules]),
      tasks: askService(tasks),
      images: askService(images),
    },
    outbox: () => outboxStatus(db, relay),
    poisoned: loops.poisoned,
    lag: () => readLag({ db, kafka, groups: consumerGroups.results }),
  });
}
