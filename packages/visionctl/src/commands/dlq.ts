import { topics } from '@vision/shared/contracts/topics';
import type { KafkaClient } from '@vision/shared/messaging/kafka';
import { wholeNumber } from '../command.ts';
import type { CommandContext, CommandGroup } from '../command.ts';
import { table } from '../table.ts';

const TOPICS = [...Object.keys(topics), ...Object.values(topics)];
const LISTED = ['partition', 'offset', 'at', 'type', 'key', 'group', 'reason', 'detail'];

const topicArgument = { name: 'topic', summary: 'from which they were put aside', choices: TOPICS };

export const dlqCommands: CommandGroup = {
  name: 'dlq',
  summary: 'dead letters: records that no consumer could handle',
  commands: [
    {
      name: 'list',
      args: [topicArgument],
      options: { limit: { value: 'number', summary: 'newest records per partition, 50 by default' } },
      summary: 'list the records that were put aside',
      run: async (context) => {
        const [topic, limit] = [topicOf(context), wholeNumber(context.options, 'limit', 1) ?? 50];
        const { listDlq } = await import('@vision/shared/messaging/dlq');
        const value = await listDlq(await kafkaOf(context), topic, limit);
        return { value: { items: value }, text: table(LISTED, value as unknown as Record<string, unknown>[]) };
      },
    },
    {
      name: 'replay',
      args: [topicArgument],
      options: { limit: { value: 'number', summary: 'records at most' } },
      summary: 'publish the records that were put aside to their topic again; repeats are harmless',
      run: async (context) => {
        const topic = topicOf(context);
        const limit = wholeNumber(context.options, 'limit', 1) ?? Infinity;
        const { replayDlq } = await import('@vision/shared/messaging/dlq');
        const replayed = await replayDlq(await kafkaOf(context), topic, { limit });
        return { value: { topic, replayed }, text: `${replayed} records were published to ${topic} again.` };
      },
    },
  ],
};

/** The full name, whether the short or the full one was given. */
function topicOf({ args }: CommandContext): string {
  return Object.entries(topics).find(([name]) => name === args['topic'])?.[1] ?? args['topic'] ?? '';
}

/** The Kafka client is loaded for these commands only: the others start in a fraction of the time without it. */
async function kafkaOf({ settings }: CommandContext): Promise<KafkaClient> {
  const { createKafka } = await import('@vision/shared/messaging/kafka');
  const { createLogger } = await import('@vision/shared/logger');
  const { connection } = await settings.kafka();
  return createKafka({ ...connection, clientId: 'visionctl', logger: createLogger('visionctl', 'silent') });
}
