import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as alarms from '@vision/contracts/alarm-events';
import * as frames from '@vision/contracts/frame-events';
import * as images from '@vision/contracts/image-events';
import * as jobs from '@vision/contracts/job-events';
import * as rules from '@vision/contracts/rule-events';
import * as tasks from '@vision/contracts/task-events';
import type { EventDefinition } from '@vision/contracts/envelope';
import { topicDefinitions, topics as topicNames } from '@vision/contracts/topics';
import { z } from 'zod';
import { serviceNames } from './services.ts';

const named = [tasks, images, frames, jobs, rules, alarms].flatMap((module) =>
  Object.entries(module as Record<string, unknown>),
);
const events = named.flatMap(([name, entry]) => (isEvent(entry) ? [described(name, entry)] : []));
const keyedBySubject: string = topicNames.rules;
type DescribedEvent = ReturnType<typeof described>;

/** The AsyncAPI 3.0 document of everything that travels over Kafka. */
export function asyncApi(root: string): object {
  for (const event of events) checkReceivers(root, event);
  const topics = [...new Set(events.map(({ topic }) => topic))];
  const schemas: Record<string, unknown> = {};
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Vision Recognition Service: events',
      version: '1',
      description:
        'Facts that services tell each other, as CloudEvents 1.0 in binary mode: attributes are Kafka headers, the value ' +
        'is the data as JSON. A message of another content type is no CloudEvent: its only header is its type. The key of every message is the task id (that of a rule: the subject), so facts about one ' +
        'task keep their order. ' +
        'Delivery is at least once; consumers apply repeats, late and reordered messages without effect and ignore ' +
        'fields that they do not know. A changed meaning, or a new value of an enumeration, is a new event type.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: {
      kafka: {
        host: '{brokers}',
        protocol: 'kafka',
        description: 'Reachable from inside only.',
        variables: { brokers: { default: 'localhost:9092', description: 'KAFKA_BROKERS of the services' } },
      },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(topics.map((topic) => [topic, channelOf(topic)])),
    operations: Object.fromEntries(topics.flatMap(operationsOf)),
    components: {
      messages: Object.fromEntries(events.map((event) => [event.type, messageOf(event, schemas)])),
      messageTraits: {
        cloudEvent: { headers: cloudEventHeaders },
        binary: { headers: binaryHeaders },
      },
      schemas,
    },
  };
}

function isEvent(entry: unknown): entry is EventDefinition {
  return typeof entry === 'object' && entry !== null && 'topic' in entry && 'schema' in entry;
}

function described(name: string, { doc, ...event }: EventDefinition) {
  if (!doc) throw new Error(`${event.type} is not described`);
  return { ...event, ...doc, name };
}

function channelOf(topic: string): object {
  const messages = events.filter((event) => event.topic === topic).map(({ type }) => [type, messageRef(type)] as const);
  const definition = topicDefinitions.find(({ name }) => name === topic);
  const days = (definition?.retentionMs ?? 0) / (24 * 60 * 60 * 1000);
  return {
    address: topic,
    description: `Keyed by ${topic === keyedBySubject ? 'subject' : 'task id'} and kept for ${days} days. What cannot be applied goes to \`${topic}.dlq\`, to look at.`,
    messages: Object.fromEntries(messages),
    bindings: { kafka: { partitions: definition?.partitions } },
  };
}

function operationsOf(topic: string): [string, object][] {
  const ofTopic = events.filter((event) => event.topic === topic);
  return serviceNames.flatMap((service) => [
    ...operationOf('send', { service, topic, messages: ofTopic.filter(({ sentBy }) => sentBy === service) }),
    ...operationOf('receive', {
      service,
      topic,
      messages: ofTopic.filter(({ receivedBy }) => receivedBy.includes(service)),
    }),
  ]);
}

function operationOf(
  action: 'send' | 'receive',
  { service, topic, messages }: { service: string; topic: string; messages: DescribedEvent[] },
): [string, object][] {
  if (messages.length === 0) return [];
  const operation = {
    action,
    channel: { $ref: `#/channels/${topic}` },
    summary: `${service} ${action}s: ${messages.map(({ summary }) => summary).join('; ')}`,
    messages: messages.map(({ type }) => ({ $ref: `#/channels/${topic}/messages/${type}` })),
  };
  return [[`${service}.${action}.${topic}`, operation]];
}

const messageRef = (type: string) => ({ $ref: `#/components/messages/${type}` });

function messageOf(event: DescribedEvent, schemas: Record<string, unknown>) {
  const { type, name, schema, binary, sentBy, summary, example } = event;
  const trait = binary ? 'binary' : 'cloudEvent';
  const known = { name: type, title: name, summary, traits: [{ $ref: `#/components/messageTraits/${trait}` }] };
  if (binary) {
    schemas[name] = { type: 'string', format: 'binary', description: binary.description };
    const payload = { $ref: `#/components/schemas/${name}` };
    return { ...known, contentType: 'application/octet-stream', payload };
  }
  const payload = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' });
  const { $schema: _dialect, definitions = {}, ...own } = hoisted(payload);
  Object.assign(schemas, definitions, { [name]: own });
  return {
    ...known,
    payload: { $ref: `#/components/schemas/${name}` },
    examples: [{ name: 'example', headers: headersFor(type, sentBy), payload: schema.parse(example) }],
  };
}

/** Named schemas within a payload become components of the document. */
function hoisted(payload: object): Record<string, unknown> {
  const text = JSON.stringify(payload).replaceAll('"#/definitions/', '"#/components/schemas/');
  return JSON.parse(text) as Record<string, unknown>;
}

const headersFor = (type: string, sentBy: string) => ({
  ce_specversion: '1.0',
  ce_id: '3b8d2f0e-1c57-4a8e-b1c9-7f1d5a2e9c44',
  ce_source: sentBy,
  ce_type: type,
  ce_time: '2026-03-15T08:30:01.250Z',
  'content-type': 'application/json',
});

const sharedHeaders = {
  ce_type: { type: 'string', description: 'The name of the message' },
  traceparent: { type: 'string', description: 'W3C trace context' },
};

const cloudEventHeaders = {
  type: 'object',
  required: ['ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_time', 'content-type'],
  properties: {
    ce_specversion: { const: '1.0' },
    ce_id: { type: 'string', description: 'A repeat of the same fact has the same id' },
    ce_source: { type: 'string', description: 'The publishing service' },
    ce_time: { type: 'string', format: 'date-time' },
    'content-type': { const: 'application/json' },
    ...sharedHeaders,
  },
};

/** Source and content type follow from the type; the time is that of the record. */
const binaryHeaders = { type: 'object', required: ['ce_type'], properties: sharedHeaders };

/** The contract and the consumers have to agree on who receives an event. */
function checkReceivers(root: string, { name, type, receivedBy }: DescribedEvent): void {
  const found = serviceNames.filter((service) => consumersOf(root, service).match(new RegExp(`\\b${name}\\b`)));
  if (found.toSorted().join() === receivedBy.toSorted().join()) return;
  throw new Error(`${type} says it is received by ${receivedBy.join()}, but the consumers of ${found.join()} name it`);
}

function consumersOf(root: string, service: string): string {
  const folder = join(root, 'services', service, 'src/consumers');
  if (!existsSync(folder)) return '';
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
}
