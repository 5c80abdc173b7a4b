import type { TopicReport } from '@vision/kafka/apply-topics';
import { FaultError } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import type { CommandContext, CommandGroup, Output } from '../command.ts';
import { decideBucket, decisionArgs, decisionOptions } from './decide-bucket.ts';
import { scanCommand } from './scan-bucket.ts';

export const topicCommands: CommandGroup = {
  name: 'topics',
  summary: 'the Kafka topics',
  commands: [
    {
      name: 'create',
      summary: 'create missing Kafka topics; existing ones stay as they are',
      run: async (context) => {
        const { changes, names } = await apply(context, { missingOnly: true });
        return { value: { topics: names, changes }, text: [...changes, `${names.length} topics exist.`].join('\n') };
      },
    },
    {
      name: 'apply',
      summary: 'create topics and change those that differ from TOPICS; never removes a topic or a partition',
      options: { check: { summary: 'only report; exit code 1 when something differs' } },
      run: async (context) => {
        const check = context.options['check'] === 'true';
        return reported(await apply(context, { check }), check);
      },
    },
  ],
};

async function apply(
  { settings }: CommandContext,
  how: { check?: boolean; missingOnly?: boolean },
): Promise<TopicReport & { names: string[] }> {
  const { connection, wanted } = await settings.kafka();
  const { applyTopics } = await import('@vision/kafka/apply-topics');
  const { createKafka } = await import('@vision/kafka/kafka');
  const { kafkaFault } = await import('@vision/kafka/kafka-fault');
  const { createLogger } = await import('@vision/shared/logger');
  const logger = createLogger('visionctl', 'silent');
  const client = createKafka({ ...connection, clientId: 'visionctl', logger, tries: 4 });
  try {
    return { ...(await applyTopics(client, wanted, how)), names: wanted.map(({ name }) => client.nameOf(name)) };
  } catch (error) {
    throw asFault(kafkaFault(error, connection), error);
  }
}

function reported({ changes, differences, names }: TopicReport & { names: string[] }, check: boolean): Output {
  const isWell = differences.length === 0 && (!check || changes.length === 0);
  const lines = [...changes, ...differences.map((sentence) => `Cannot be changed: ${sentence}`)];
  return {
    value: { topics: names, changes, differences },
    text: lines.length > 0 ? lines.join('\n') : `${names.length} topics are as they have to be.`,
    ...(!isWell && { exitCode: 1 }),
  };
}

const asFault = (fault: Fault | undefined, error: unknown) => (fault ? new FaultError(fault, { cause: error }) : error);

export const bucketCommands: CommandGroup = {
  name: 'bucket',
  summary: 'the bucket of the object store',
  commands: [
    {
      name: 'create',
      summary: 'create the bucket for uploads and images if it is missing',
      run: async ({ settings }) => {
        const options = await settings.objectStore();
        const { createObjectStore } = await import('@vision/objects/object-store');
        const { bucketFault } = await import('@vision/objects/check-bucket');
        const store = createObjectStore(options);
        try {
          await store.ensureBucket();
        } catch (error) {
          throw asFault(bucketFault(error, options), error);
        } finally {
          store.close();
        }
        return { value: { bucket: store.bucket }, text: `The bucket ${store.bucket} exists.` };
      },
    },
    {
      name: 'check',
      summary: 'check that the bucket exists and may be used',
      run: async ({ settings }) => {
        const options = await settings.objectStore();
        const { checkBucket } = await import('@vision/objects/check-bucket');
        const fault = await checkBucket(options);
        if (fault) throw new FaultError(fault);
        return { value: { bucket: options.bucket }, text: `The bucket ${options.bucket} can be used.` };
      },
    },
    scanCommand,
    {
      name: 'adopt',
      args: decisionArgs,
      options: decisionOptions,
      summary: 'make a database the only owner of its objects in the bucket; objects that it does not know are removed',
      run: (context) => decideBucket(context, 'adopt'),
    },
  ],
};
