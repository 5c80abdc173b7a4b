import { topicDefinitions } from '@vision/shared/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { ensureTopics } from '@vision/shared/messaging/ensure-topics';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import type { CommandGroup } from '../command.ts';

export const topicCommands: CommandGroup = {
  name: 'topics',
  summary: 'the Kafka topics',
  commands: [
    {
      name: 'create',
      summary: 'create the Kafka topics that are missing; existing ones stay as they are',
      run: async ({ settings }) => {
        const logger = createLogger('visionctl', 'silent');
        const brokers = settings.kafkaBrokers();
        await ensureTopics(createKafka({ brokers, clientId: 'visionctl', logger, topicPrefix: settings.topicPrefix }));
        const topics = topicDefinitions.map(({ name }) => `${settings.topicPrefix}${name}`);
        return { value: { topics }, text: `${topics.length} topics exist.` };
      },
    },
  ],
};

export const bucketCommands: CommandGroup = {
  name: 'bucket',
  summary: 'the bucket of the object store',
  commands: [
    {
      name: 'create',
      summary: 'create the bucket for uploads and pictures if it is missing',
      run: async ({ settings }) => {
        const store = createObjectStore(settings.objectStore());
        try {
          await store.ensureBucket();
        } finally {
          store.close();
        }
        return { value: { bucket: store.bucket }, text: `The bucket ${store.bucket} exists.` };
      },
    },
  ],
};
