import { join } from 'node:path';
import { clean } from '../../deploy/local/clean.ts';
import { ensureKafka, localBrokers } from '../../deploy/local/kafka.ts';
import { readSettings, say } from '../../deploy/local/settings.ts';
import type { Settings } from '../../deploy/local/settings.ts';
import { testSettings } from '../../deploy/local/test-copy.ts';
import { portBlocks } from '../../test/faults/world/ports.ts';
import { localDir } from '../processes.ts';

/** The brokers of a run. */
export interface Brokers {
  /** As KAFKA_BROKERS names them. */
  addresses: string;
  /** Their programs, as `make up` names them. */
  programs: string[];
  /** The folder that `make up` or a copy of it works in. */
  localDir: string;
  stop: () => Promise<void>;
}

/** What operators have to set on three brokers; docs/kubernetes.md. */
const replicated = {
  'default.replication.factor': '3',
  'min.insync.replicas': '2',
  'offsets.topic.replication.factor': '3',
};

/** The broker of the running system, or three of their own that keep each record three times. */
export async function startBrokers(count: number): Promise<Brokers> {
  if (count === 1)
    return {
      addresses: process.env['TEST_KAFKA_BROKERS'] ?? '',
      programs: ['kafka'],
      localDir,
      stop: () => Promise.resolve(),
    };
  const base = { ...readSettings(), localDir: join(localDir, 'brokers') };
  await clean(base);
  // Their second compiler stays on: they run for minutes, and their processor time counts.
  const { isThrowaway: _isThrowaway, ...copy } = await testSettings(base, {});
  const followers = portBlocks.moreBrokers.slice(0, count - 1);
  const settings: Settings = {
    ...copy,
    kafka: {
      listeners: [],
      properties: replicated,
      followers: followers.map((block) => ({ port: copy.portBase + block, listeners: [] })),
    },
  };
  say('brokers', `starting ${count}`);
  await ensureKafka(settings);
  return {
    addresses: localBrokers(settings),
    programs: ['kafka', ...followers.map((_, index) => `kafka-${index + 2}`)],
    localDir: copy.localDir,
    stop: () => clean(base),
  };
}
