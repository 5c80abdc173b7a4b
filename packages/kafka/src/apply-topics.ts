import kafkajs from 'kafkajs';
import type { Admin, ITopicMetadata } from 'kafkajs';
import { retryUntil } from '@vision/shared/async/retry-until';
import type { KafkaClient } from './kafka.ts';
import type { WantedTopic } from './topics-config.ts';

export interface TopicReport {
  /** Changes that were made, or would be made with `check`; one sentence each. */
  changes: string[];
  /** Deviations from the declaration that cannot be fixed here; one sentence each. */
  differences: string[];
}

/**
 * Creates topics and changes those that differ: more partitions, other retention, another minimum of in-sync replicas.
 * Never removes or shrinks anything. Undeclared properties stay as they are, the number of partitions included.
 * Idempotent.
 */
export async function applyTopics(
  client: KafkaClient,
  wanted: WantedTopic[],
  { check = false, missingOnly = false }: { check?: boolean; missingOnly?: boolean } = {},
): Promise<TopicReport> {
  const admin = client.kafka.admin();
  await admin.connect();
  try {
    const report: TopicReport = { changes: [], differences: [] };
    for (const topic of wanted)
      await applyTopic({ admin, check, missingOnly, report }, { ...topic, name: client.nameOf(topic.name) });
    return report;
  } finally {
    await admin.disconnect();
  }
}

interface Run {
  admin: Admin;
  check: boolean;
  missingOnly: boolean;
  report: TopicReport;
}

async function applyTopic(run: Run, topic: WantedTopic): Promise<void> {
  const { admin, check, missingOnly, report } = run;
  const found = await describe(admin, topic.name);
  if (!found) {
    report.changes.push(`${topic.name} is created with ${topic.partitions} partitions`);
    if (!check) await create(admin, topic);
    return;
  }
  if (missingOnly) return;
  await applyPartitions(run, topic, found);
  compareReplicas(topic, found, report);
  await applyConfig(run, topic);
}

async function describe(admin: Admin, name: string): Promise<ITopicMetadata | undefined> {
  try {
    return (await admin.fetchTopicMetadata({ topics: [name] })).topics[0];
  } catch (error) {
    if ((error as { type?: string }).type === 'UNKNOWN_TOPIC_OR_PARTITION') return undefined;
    throw error;
  }
}

async function create(admin: Admin, topic: WantedTopic): Promise<void> {
  await admin.createTopics({
    // The library treats a broker that does not know the new topic yet as a failure.
    waitForLeaders: false,
    topics: [
      {
        topic: topic.name,
        numPartitions: topic.partitions,
        // -1 selects the broker's default.
        replicationFactor: topic.replicationFactor ?? -1,
        configEntries: Object.entries(configOf(topic)).map(([name, value]) => ({ name, value })),
      },
    ],
  });
  await waitUntilKnown(admin, topic.name);
}

/** Waits for up to a minute until the responding broker knows the topic and the leaders of its partitions. */
async function waitUntilKnown(admin: Admin, name: string): Promise<void> {
  await retryUntil(() => admin.fetchTopicMetadata({ topics: [name] }), {
    signal: new AbortController().signal,
    pauseAfter: (error, failures) => (failures < LOOKS && isNotKnownYet(error) ? LOOK_EVERY_MS : undefined),
  });
}

const LOOKS = 600;
const LOOK_EVERY_MS = 100;
const isNotKnownYet = (error: unknown) =>
  ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'].includes((error as { type?: string }).type ?? '');

async function applyPartitions(
  { admin, check, report }: Run,
  { name, partitions, addPartitions }: WantedTopic,
  found: ITopicMetadata,
): Promise<void> {
  const present = found.partitions.length;
  if (present === partitions || !addPartitions) return;
  if (present > partitions) {
    report.differences.push(`${name} has ${present} partitions, not ${partitions}: Kafka can only add partitions`);
    return;
  }
  report.changes.push(`${name} gets ${partitions} partitions instead of ${present}`);
  if (!check) await admin.createPartitions({ topicPartitions: [{ topic: name, count: partitions }] });
}

function compareReplicas({ name, replicationFactor }: WantedTopic, found: ITopicMetadata, report: TopicReport): void {
  if (replicationFactor === undefined) return;
  const present = Math.min(...found.partitions.map(({ replicas }) => replicas.length));
  if (present !== replicationFactor)
    report.differences.push(
      `${name} has ${present} replicas, not ${replicationFactor}: move its partitions with kafka-reassign-partitions`,
    );
}

async function applyConfig({ admin, check, report }: Run, topic: WantedTopic): Promise<void> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic.name }],
  });
  const entries = resources[0]?.configEntries ?? [];
  const wanted = Object.entries(configOf(topic));
  const differing = wanted.filter(([name, value]) => {
    const entry = entries.find(({ configName }) => configName === name);
    const isLargeEnough = name === MESSAGE_BYTES && Number(entry?.configValue) >= Number(value);
    return entry?.configValue !== value && !isLargeEnough;
  });
  if (differing.length === 0) return;
  for (const [name, value] of differing) report.changes.push(`${topic.name} gets ${name}=${value}`);
  if (check) return;
  // The library supports only the request that replaces all settings of a topic, so it also sends undeclared ones.
  const own = entries.filter(({ configSource }) => (configSource as number) === SET_ON_TOPIC);
  const all = {
    ...Object.fromEntries(own.map((entry) => [entry.configName, entry.configValue])),
    ...Object.fromEntries(differing),
  };
  await admin.alterConfigs({
    validateOnly: false,
    resources: [
      {
        type: kafkajs.ConfigResourceTypes.TOPIC,
        name: topic.name,
        configEntries: Object.entries(all).map(([name, value]) => ({ name, value })),
      },
    ],
  });
}

/** Protocol value for the source of a setting that is set on the topic itself. */
const SET_ON_TOPIC = 1;

const MESSAGE_BYTES = 'max.message.bytes';

function configOf({ retentionMs, minInsyncReplicas, minMessageBytes }: WantedTopic): Record<string, string> {
  return {
    'retention.ms': String(retentionMs),
    ...(minInsyncReplicas !== undefined && { 'min.insync.replicas': String(minInsyncReplicas) }),
    ...(minMessageBytes !== undefined && { [MESSAGE_BYTES]: String(minMessageBytes) }),
  };
}
