import type { z } from 'zod';
import { allowedCalls, callees } from '@vision/contracts/allowed-calls';
import { topicDefinitions, topics } from '@vision/contracts/topics';
import type { Constants } from '@vision/shared/config';
import { defaultText } from '../environment.ts';
import { importFrom, serviceNames } from '../services.ts';
import { fixedStopMs } from '../stop-times.ts';
import { WIRED } from './wired.ts';

/**
 * The consumer groups of a service and what they read: `name` is the topic's name in the values of the chart,
 * `partitions` how many it has when they name none.
 */
interface Consumed {
  group: string;
  topic: string;
  name: keyof typeof topics;
  partitions: number | undefined;
}

const partitionsOf = new Map(topicDefinitions.map(({ name, partitions }) => [name, partitions]));

const consumed = (group: string, ...names: (keyof typeof topics)[]): Consumed[] =>
  names.map((name) => ({ group, topic: topics[name], name, partitions: partitionsOf.get(topics[name]) }));

/** Stands in `createConsumer` and `subscriptions` of each service. */
const consumers: Record<string, Consumed[]> = {
  tasks: consumed('tasks', 'images', 'results'),
  results: [
    ...consumed('results-frames', 'frames'),
    ...consumed('results-tasks', 'tasks'),
    ...consumed('results-jobs', 'jobs'),
    ...consumed('results-rules', 'rules'),
  ],
  quota: consumed('quota', 'tasks', 'images'),
  notify: consumed('notify', 'tasks', 'alarms'),
};

/** Connections beside the pool: the session of the outbox relay (docs/operations.md, "Database connections"). */
const sessions: Record<string, number> = { tasks: 1, images: 1, results: 1, notify: 1 };

/** charts/vision/files/facts.json: what the templates have to know of the code. */
export async function chartFacts(root: string): Promise<string> {
  const components: Record<string, unknown> = {};
  for (const service of serviceNames) {
    const { schema, retired } = await settingsOf(root, service);
    const facts = { ...factsOf(service, schema, root), retired };
    components[service] = { ...facts, stopSeconds: Math.ceil((await fixedStopMs(root, service)) / 1000) };
  }
  return JSON.stringify({ components });
}

/** The settings of a service, and the names that a release before had as settings too. */
export async function settingsOf(root: string, service: string): Promise<{ schema: z.ZodObject; retired: string[] }> {
  const module = (await importFrom(root, service, 'config.ts')) as ConfigModule | undefined;
  if (!module) throw new Error(`${service} has no config.ts`);
  return { schema: module.configSchema, retired: Object.keys(module.constants) };
}

interface ConfigModule {
  configSchema: z.ZodObject;
  constants: Constants;
}

function factsOf(service: string, schema: z.ZodObject, root: string) {
  const names = Object.keys(schema.shape);
  const defaults = names.map((name) => [name, defaultText(schema.shape[name] as z.ZodType, root) ?? ''] as const);
  return {
    settings: Object.fromEntries(defaults),
    wired: names.filter((name) => WIRED.includes(name)),
    calls: callees.filter((callee) => service in allowedCalls[callee]),
    calledBy: Object.entries(allowedCalls)
      .filter(([callee]) => callee === service)
      .flatMap(([, callers]) => Object.keys(callers)),
    consumes: consumers[service] ?? [],
    sessions: sessions[service] ?? 0,
    /** Starts processes that decode, and asks model servers. */
    decodes: names.includes('SANDBOX'),
    opensStreams: names.includes('STREAM_ALLOWED_PORTS'),
    sendsWebhooks: names.includes('WEBHOOK_ALLOWED_PORTS'),
  };
}
