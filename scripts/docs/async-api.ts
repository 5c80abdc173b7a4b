import * as frames from '@vision/shared/contracts/frame-events';
import * as images from '@vision/shared/contracts/image-events';
import * as tasks from '@vision/shared/contracts/task-events';
import type { EventDefinition } from '@vision/shared/contracts/envelope';
import { z } from 'zod';

const events = [tasks, images, frames]
  .flatMap((module) => Object.values(module as Record<string, unknown>))
  .filter(isEvent);

const headers = {
  type: 'object',
  required: ['ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_time', 'content-type'],
  properties: {
    ce_specversion: { const: '1.0' },
    ce_id: { type: 'string', description: 'A repeat of the same fact has the same id' },
    ce_source: { type: 'string', description: 'The publishing service' },
    ce_type: { type: 'string' },
    ce_time: { type: 'string', format: 'date-time' },
    'content-type': { const: 'application/json' },
    traceparent: { type: 'string', description: 'W3C trace context' },
  },
};

/** The AsyncAPI 3.0 document of everything that travels over Kafka. */
export async function asyncApi(): Promise<object> {
  const topics = [...new Set(events.map(({ topic }) => topic))];
  const channel = (topic: string) => {
    const messages = events.filter((event) => event.topic === topic).map(({ type }) => [type, reference(type)]);
    const text = 'Keyed by task id. At least once; consumers apply repeats and disorder without effect.';
    return [topic, { address: topic, description: text, messages: Object.fromEntries(messages) as object }];
  };
  return {
    asyncapi: '3.0.0',
    info: { title: 'Vision Recognition Service: events', version: '1' },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(topics.map(channel)) as object,
    components: { messages: Object.fromEntries(events.map((event) => [event.type, message(event)])) },
  };
}

function isEvent(entry: unknown): entry is EventDefinition {
  return typeof entry === 'object' && entry !== null && 'topic' in entry && 'schema' in entry;
}

const reference = (type: string) => ({ $ref: `#/components/messages/${type}` });

function message({ type, schema }: EventDefinition): object {
  return {
    name: type,
    headers: { ...headers, properties: { ...headers.properties, ce_type: { const: type } } },
    payload: z.toJSONSchema(schema, { target: 'draft-7' }),
  };
}
