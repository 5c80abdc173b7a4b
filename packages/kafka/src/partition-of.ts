import { Partitioners } from 'kafkajs';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import { asUnavailable } from '@vision/shared/unavailable';
import type { KafkaClient } from './kafka.ts';

const ASK_MS = 30_000;
const choose = Partitioners.DefaultPartitioner();

/**
 * The partition of a key among those that the topic has now: murmur2 of the key, as in all our producers and the Java
 * client.
 * @throws AppError of kind `unavailable` while Kafka is unavailable.
 */
export async function partitionOf({ kafka, nameOf }: KafkaClient, topic: string, key: string): Promise<number> {
  const name = nameOf(topic);
  const admin = kafka.admin();
  try {
    return await callUpstream(
      { upstream: 'kafka', operation: 'metadata', limitMs: ASK_MS, isPartOfTrace: true },
      async () => {
        await admin.connect();
        const { topics } = await admin.fetchTopicMetadata({ topics: [name] });
        const partitionMetadata = topics.flatMap(({ partitions }) => partitions);
        return choose({ topic: name, partitionMetadata, message: { key, value: null } });
      },
    );
  } catch (error) {
    throw asUnavailable(error) ?? error;
  } finally {
    await admin.disconnect();
  }
}
