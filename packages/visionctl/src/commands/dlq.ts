import { topics } from '@vision/shared/contracts/topics';
import type { KafkaClient } from '@vision/shared/messaging/kafka';
import type { Command, CommandContext } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { table } from '../table.ts';

const LISTED = ['partition', 'offset', 'at', 'type', 'key', 'group', 'reason', 'detail'];

export const dlqCommands: Command[] = [
  {
    name: 'dlq list',
    args: ['topic'],
    options: { limit: 'newest records per partition, 50 by default' },
    summary: `list the records that were put aside; <topic> is one of ${Object.keys(topics).join(', ')}`,
    run: async (context) => {
      const [topic, limit] = [topicOf(context), limitOf(context, 50)];
      const { listDlq } = await import('@vision/shared/messaging/dlq');
      const value = await listDlq(await kafkaOf(context), topic, limit);
      return { value: { items: value }, text: table(LISTED, value as unknown as Record<string, unknown>[]) };
    },
  },
  {
    name: 'dlq replay',
    args: ['topic'],
    options: { limit: 'records at most' },
    summary: 'publish the records that were put aside to their topic again; repeats are harmless',
    run: async (context) => {
      const topic = topicOf(context);
      const limit = limitOf(context, Infinity);
      const { replayDlq } = await import('@vision/shared/messaging/dlq');
      const replayed = await replayDlq(await kafkaOf(context), topic, { limit });
      return { value: { topic, replayed }, text: `${replayed} records were published to ${topic} again.` };
    },
  },
];

function topicOf({ args }: CommandContext): string {
  const given = args['topic'] ?? '';
  const topic = Object.entries(topics).find(([name, full]) => given === name || given === full)?.[1];
  if (topic === undefined) throw new UsageError(`<topic> is one of ${Object.keys(topics).join(', ')}.`);
  return topic;
}

function limitOf({ options }: CommandContext, fallback: number): number {
  if (options['limit'] === undefined) return fallback;
  const limit = Number(options['limit']);
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit is a whole number from 1.');
  return limit;
}

/** The Kafka client is loaded for these commands only: the others start in a fraction of the time without it. */
async function kafkaOf({ settings }: CommandContext): Promise<KafkaClient> {
  const { createKafka } = await import('@vision/shared/messaging/kafka');
  const { createLogger } = await import('@vision/shared/logger');
  return createKafka({
    brokers: settings.kafkaBrokers(),
    clientId: 'visionctl',
    logger: createLogger('visionctl', 'silent'),
    topicPrefix: settings.topicPrefix,
  });
}
