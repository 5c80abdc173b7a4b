import { dlqTopic } from '@vision/contracts/topics';
import type { StartCheck } from '@vision/shared/start/start-checks';
import { checkKafka } from './check-kafka.ts';
import { kafkaConnection } from './kafka-config.ts';
import type { KafkaConfig } from './kafka-config.ts';
import { wantedTopics } from './topics-config.ts';

/**
 * What a process asks the brokers at its start: whether they take it, and whether its topics are there. Partitions are
 * compared only where TOPICS declares them.
 */
export function kafkaCheck(config: KafkaConfig, use: { consumes: string[]; publishes: string[] }): StartCheck {
  const { TOPICS: declared } = config;
  const compared = wantedTopics(declared).filter(({ addPartitions }) => addPartitions);
  const wanted = new Map(compared.map(({ name, partitions }) => [name, partitions]));
  const names = [...use.consumes, ...use.consumes.map(dlqTopic), ...use.publishes];
  const topics = names.map((name) => ({ name, partitions: wanted.get(name) }));
  return { name: 'kafka', readyWhileAway: true, ask: () => checkKafka(kafkaConnection(config), topics) };
}
