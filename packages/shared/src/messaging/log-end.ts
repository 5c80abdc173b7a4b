import type { KafkaClient } from './kafka.ts';

/** The offset that the next record of a partition gets. The topic is named as on the broker. */
export async function endOfLog({ kafka }: KafkaClient, topic: string, partition: number): Promise<bigint> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const partitions = await admin.fetchTopicOffsets(topic);
    const found = partitions.find((one) => one.partition === partition);
    if (!found) throw new Error(`topic ${topic} has no partition ${partition}`);
    return BigInt(found.high);
  } finally {
    await admin.disconnect();
  }
}
