import type { KafkaClient } from './kafka.ts';

/** The oldest offset of a partition and the one that its next record gets. The topic is named as on the broker. */
export async function boundsOfLog(
  { kafka }: KafkaClient,
  topic: string,
  partition: number,
): Promise<{ low: bigint; end: bigint }> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const partitions = await admin.fetchTopicOffsets(topic);
    const found = partitions.find((one) => one.partition === partition);
    if (!found) throw new Error(`topic ${topic} has no partition ${partition}`);
    return { low: BigInt(found.low), end: BigInt(found.high) };
  } finally {
    await admin.disconnect();
  }
}
