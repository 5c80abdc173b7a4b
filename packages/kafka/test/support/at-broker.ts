import type { KafkaClient } from '../../src/kafka.ts';

/** Changes what the broker has, with the consumers away. */
export async function atBroker<T>(
  { kafka }: Pick<KafkaClient, 'kafka'>,
  work: (admin: ReturnType<KafkaClient['kafka']['admin']>) => Promise<T>,
): Promise<T> {
  const admin = kafka.admin();
  await admin.connect();
  return work(admin).finally(() => admin.disconnect());
}

/** Removes records of the first partition, as retention does. */
export const removeRecordsBelow = (client: KafkaClient, topic: string, offset: string): Promise<void> =>
  atBroker(client, async (admin) => {
    // It looks for the leader of a partition only in what it has loaded.
    await admin.fetchTopicOffsets(client.nameOf(topic));
    await admin.deleteTopicRecords({ topic: client.nameOf(topic), partitions: [{ partition: 0, offset }] });
  });
