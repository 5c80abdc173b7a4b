import { topicDefinitions } from '../contracts/topics.ts';
import type { KafkaClient } from './kafka.ts';

/** Creates the topics that are missing, with the broker's own replication; an existing topic is left as it is. */
export async function ensureTopics({ kafka, nameOf }: KafkaClient): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: topicDefinitions.map((topic) => ({
        topic: nameOf(topic.name),
        numPartitions: topic.partitions,
        configEntries: [{ name: 'retention.ms', value: String(topic.retentionMs) }],
      })),
    });
  } finally {
    await admin.disconnect();
  }
}
