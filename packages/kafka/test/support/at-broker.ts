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
