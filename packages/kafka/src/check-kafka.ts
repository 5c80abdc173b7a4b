import type { Fault } from '@vision/shared/start/fault';
import { wrong } from '@vision/shared/start/fault';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from './kafka.ts';
import type { KafkaConnection } from './kafka.ts';
import { kafkaFault } from './kafka-fault.ts';

export interface NeededTopic {
  /** Without prefix. */
  name: string;
  /** Fewer are a fault; none are asked for when absent. */
  partitions?: number | undefined;
}

/**
 * Asks once whether the brokers take us and have these topics. @returns undefined when all is as it has to be.
 * @throws what is no fault of the way there or of the topics.
 */
export async function checkKafka(connection: KafkaConnection, topics: NeededTopic[]): Promise<Fault | undefined> {
  const client = createKafka({
    ...connection,
    clientId: 'start-check',
    logger: createLogger('start-check', 'silent'),
    tries: 1,
  });
  const admin = client.kafka.admin();
  try {
    await admin.connect();
    // Before a login the brokers answer the first request, and not this one.
    await admin.describeCluster();
    for (const topic of topics) {
      const name = client.nameOf(topic.name);
      const fault = await topicFault(name, topic.partitions, () => admin.fetchTopicMetadata({ topics: [name] }));
      if (fault) return fault;
    }
    return undefined;
  } catch (error) {
    const fault = kafkaFault(error, connection);
    if (fault) return fault;
    throw error;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

interface Metadata {
  topics: { partitions: unknown[] }[];
}

async function topicFault(
  name: string,
  wanted: number | undefined,
  ask: () => Promise<Metadata>,
): Promise<Fault | undefined> {
  try {
    const partitions = (await ask()).topics[0]?.partitions.length ?? 0;
    if (wanted === undefined || partitions >= wanted) return undefined;
    return wrong(
      `The topic ${name} has ${partitions} partitions, and TOPICS asks for ${wanted}: run "visionctl topics apply"`,
    );
  } catch (error) {
    const { type } = error as { type?: string };
    if (type === 'UNKNOWN_TOPIC_OR_PARTITION')
      return wrong(`The topic ${name} (TOPIC_PREFIX included) does not exist: run "visionctl topics apply"`);
    if (type === 'TOPIC_AUTHORIZATION_FAILED')
      return wrong(
        `KAFKA_USERNAME, KAFKA_OAUTH_CLIENT_ID or the certificate of KAFKA_CERT_FILE may not use the topic ${name}`,
      );
    throw error;
  }
}
