import { topicDefinitions } from '@vision/shared/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { ensureTopics } from '@vision/shared/messaging/ensure-topics';
import { createKafka } from '@vision/shared/messaging/kafka';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import type { Command } from '../command.ts';

export const setupCommands: Command[] = [
  {
    name: 'topics create',
    summary: 'create the Kafka topics that are missing; existing ones stay as they are',
    run: async ({ settings }) => {
      const logger = createLogger('visionctl', 'silent');
      const brokers = settings.kafkaBrokers();
      await ensureTopics(createKafka({ brokers, clientId: 'visionctl', logger, topicPrefix: settings.topicPrefix }));
      const topics = topicDefinitions.map(({ name }) => `${settings.topicPrefix}${name}`);
      return { value: { topics }, text: `${topics.length} topics exist.` };
    },
  },
  {
    name: 'bucket create',
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
];
