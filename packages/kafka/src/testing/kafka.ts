import { randomBytes } from 'node:crypto';
import type { Admin, ITopicConfig } from 'kafkajs';
import { dlqTopic } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '../kafka.ts';
import type { KafkaClient } from '../kafka.ts';
import { testAddress } from '@vision/shared/testing/environment';
import { until } from '@vision/shared/testing/until';

export interface TestKafka {
  brokers: string[];
  /** For the TOPIC_PREFIX of a service under test. */
  topicPrefix: string;
  client: KafkaClient;
  /** Removes the topics. Stop consumers and producers first. */
  close: () => Promise<void>;
}

export interface TestKafkaOptions {
  /** Names without prefix; each gets its dead letter topic. */
  topics: string[];
  partitions?: number | ((topic: string) => number);
}

/** Topics of this run alone, and a client for them that prefixes every name. */
export async function testKafka({ topics, partitions = 2 }: TestKafkaOptions): Promise<TestKafka> {
  const brokers = testAddress('TEST_KAFKA_BROKERS').split(',');
  const topicPrefix = `t${randomBytes(5).toString('hex')}.`;
  const logger = createLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent');
  const client = createKafka({ brokers, clientId: 'test', logger, topicPrefix });
  const admin = client.kafka.admin();
  const wanted = topics.flatMap((topic) => [
    { topic: client.nameOf(topic), numPartitions: typeof partitions === 'number' ? partitions : partitions(topic) },
    { topic: client.nameOf(dlqTopic(topic)), numPartitions: 1 },
  ]);
  await admin.connect();
  try {
    await createTopics(admin, wanted);
  } finally {
    await admin.disconnect();
  }
  return {
    brokers,
    topicPrefix,
    client,
    close: async () => {
      const last = client.kafka.admin();
      await last.connect();
      await last.deleteTopics({ topics: wanted.map(({ topic }) => topic) }).finally(() => last.disconnect());
    },
  };
}

/** Resolves when every partition is served: a broker is announced as its leader before it has made the log. */
export async function createTopics(admin: Admin, topics: ITopicConfig[]): Promise<void> {
  await admin.createTopics({ topics, waitForLeaders: false });
  await Promise.all(topics.map(({ topic }) => until(() => admin.fetchTopicOffsets(topic))));
}
