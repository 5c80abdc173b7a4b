import { setTimeout as delay } from 'node:timers/promises';
import { isNativeError } from 'node:util/types';
import type { Consumer, ConsumerRunConfig } from 'kafkajs';
import { atMost } from '@vision/shared/async/at-most';
import { backoff } from '@vision/shared/async/backoff';
import type { ConsumerSignals } from './consumer-signals.ts';
import { announcing } from './group-features.ts';
import type { KafkaClient } from './kafka.ts';
import type { Assignment, PartitionCursors } from './partition-cursors.ts';
import { gatherCommits } from './offset-commits.ts';
import type { OffsetCommits } from './offset-commits.ts';
import type { ConsumerControl } from './progress.ts';
import { untraced } from '@vision/shared/telemetry/trace-context';

/**
 * A consumer gives up after so many crashes in a row, with the brokers in reach and no event settled between them.
 */
const MOST_CRASHES = 5;

export interface SuperviseOptions {
  kafka: KafkaClient;
  groupId: string;
  /** Without prefix. */
  topics: string[];
  /** What this member reads beyond what every release reads (`group-features.ts`). */
  features?: readonly string[] | undefined;
  run: ConsumerRunConfig;
  signals: ConsumerSignals;
  /** Receives every batch and every assignment. */
  cursors: PartitionCursors;
  /** Called whenever the group has given this member its partitions. */
  onAssigned?: () => void;
  /** Called once when the consumer cannot go on in this process; the process should end with a failure. */
  onFatal: (error: Error) => void;
}

export interface Supervisor {
  /** Connects and joins the group, for as long as that takes; returns at once. */
  start: () => void;
  /** Resolves when the group has given this process its partitions for the first time. */
  joined: Promise<void>;
  /** False once it has given up for good. For the liveness check: no outage of Kafka or a store makes it false. */
  isAlive: () => boolean;
  /** Call it when an event was settled: resets the count of crashes. */
  progressed: () => void;
  control: ConsumerControl;
  stop: (timeoutMs?: number) => Promise<void>;
}

/**
 * Keeps one kafkajs consumer running: connects for as long as it takes, lets the library restart itself after an
 * outage, and calls `onFatal` when it cannot be restarted, crashes repeatedly, or hangs.
 */
export function createSupervisor(options: SuperviseOptions): Supervisor {
  const { kafka, groupId, signals, cursors } = options;
  const stop = new AbortController();
  const state = { crashes: 0, alive: true, started: false, lastSignAt: performance.now() };
  const fatal = (error: Error) => {
    if (!state.alive || stop.signal.aborted) return;
    state.alive = false;
    kafka.logger.error({ err: error, group: groupId }, 'consumer failed; stopping the process');
    options.onFatal(error);
  };
  const consumer = createConsumer(options, async (error) => {
    if (!isOutage(error)) state.crashes += 1;
    return state.crashes < MOST_CRASHES;
  });
  const commits = gatherCommits(consumer, kafka.logger);
  let watchdog: NodeJS.Timeout | undefined;
  const starts = createStarts(consumer, options, stop.signal, state);
  const { promise: joined, resolve: onJoined } = Promise.withResolvers<void>();
  consumer.on('consumer.group_join', ({ payload }) => {
    cursors.assigned(payload.memberAssignment);
    signals.joined(withoutPrefix(options, payload.memberAssignment));
    options.onAssigned?.();
    onJoined();
  });
  consumer.on('consumer.crash', ({ payload }) => {
    signals.crashed();
    cursors.assigned({});
    if (payload.restart) return;
    if (isLostBroker(payload.error)) starts.beginAgain();
    else fatal(payload.error);
  });
  followBatches(consumer, options);
  return {
    start: () => {
      watchdog = watch(consumer, state, fatal);
      starts.begin();
    },
    joined,
    isAlive: () => state.alive,
    progressed: () => {
      state.crashes = 0;
    },
    control: controlOf(consumer, commits),
    stop: async (timeoutMs = 20_000) => {
      stop.abort();
      clearInterval(watchdog);
      // While it still waits for a broker there is nothing to leave; the library's own retries end by themselves.
      const patienceMs = state.started ? timeoutMs : Math.min(timeoutMs, 1_000);
      const left = starts
        .begun()
        .then((running) => leave(consumer, commits, running && state.alive ? joined : undefined));
      if (!(await atMost(patienceMs, left)) && state.started) {
        kafka.logger.warn({ group: groupId, timeout_ms: timeoutMs }, 'the consumer did not leave its group in time');
      }
    },
  };
}

/** The library calls listeners at once, so the cursors are up to date before the first record is handled. */
function followBatches(consumer: Consumer, options: SuperviseOptions): void {
  const { cursors, signals } = options;
  consumer.on('consumer.start_batch_process', ({ payload }) => cursors.batchBegins(payload));
  consumer.on('consumer.end_batch_process', ({ payload }) => {
    cursors.batchEnds(payload);
    signals.lag(ownName(options, payload.topic), payload.partition, Number(payload.offsetLag));
  });
}

function createConsumer(
  { kafka, groupId, features = [] }: SuperviseOptions,
  restartOnFailure: (error: Error) => Promise<boolean>,
): Consumer {
  return kafka.kafka.consumer({
    groupId: kafka.nameOf(groupId),
    allowAutoTopicCreation: false,
    ...(features.length > 0 && { partitionAssigners: [announcing(features)] }),
    // The partitions of a killed process stay idle for this long. Heartbeats continue during work and pauses
    // (`persist.ts`), so five of them have to fail in a row. Losing partitions wrongly does no harm (ADR 28).
    sessionTimeout: 15_000,
    heartbeatInterval: 3_000,
    rebalanceTimeout: 60_000,
    // A short long poll: leaving, and noticing that others join, takes half a second instead of five.
    maxWaitTimeInMs: 500,
    maxBytesPerPartition: 1_048_576,
    maxBytes: 5_242_880,
    retry: { initialRetryTime: 300, retries: 5, maxRetryTime: 10_000, restartOnFailure },
  });
}

/** Leaving while a join is under way makes the library hang, so the join is awaited first. */
async function leave(consumer: Consumer, commits: OffsetCommits, joined: Promise<void> | undefined): Promise<void> {
  if (joined) await atMost(5_000, joined);
  await commits.finish();
  await consumer.disconnect();
}

/** The name of a topic as the code knows it. */
function ownName({ kafka, topics }: SuperviseOptions, name: string): string {
  return topics.find((topic) => kafka.nameOf(topic) === name) ?? name;
}

function withoutPrefix(options: SuperviseOptions, assignment: Assignment): Assignment {
  return Object.fromEntries(Object.entries(assignment).map(([name, held]) => [ownName(options, name), held]));
}

function controlOf(consumer: Consumer, commits: OffsetCommits): ConsumerControl {
  return {
    seek: (topic, partition, offset) => consumer.seek({ topic, partition, offset: String(offset) }),
    commit: async (topic, partition, offset) => {
      try {
        await consumer.commitOffsets([{ topic, partition, offset: String(offset) }]);
      } catch (error) {
        // The library rejoins only if it receives the cause itself.
        throw isNativeError(error) && isNativeError(error.cause) ? error.cause : error;
      }
    },
    commitSoon: commits.note,
  };
}

/** Starts a consumer, and once more when the library does not. */
function createStarts(
  consumer: Consumer,
  options: SuperviseOptions,
  signal: AbortSignal,
  state: { started: boolean; lastSignAt: number },
) {
  let begun = Promise.resolve(false);
  const begin = () => untraced(() => startForever(consumer, options, signal, state));
  return {
    begin: () => void (begun = begin()),
    beginAgain: () => void (begun = delay(RESTART_MS, undefined, { signal }).then(begin, () => false)),
    /** Resolves with false when it was stopped before it ran. */
    begun: () => begun,
  };
}

/** @returns false when it was stopped before it ran. */
async function startForever(
  consumer: Consumer,
  { kafka, groupId, topics, run }: SuperviseOptions,
  signal: AbortSignal,
  state: { started: boolean; lastSignAt: number },
): Promise<boolean> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    state.lastSignAt = performance.now();
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: topics.map(kafka.nameOf), fromBeginning: true });
      // With auto-commit, a seek of the library is a commit that can get lost.
      await consumer.run({ ...run, autoCommit: false });
      state.started = true;
      return true;
    } catch (error) {
      // Waits for a missing topic as well: the deployment may create it a moment later.
      kafka.logger.warn({ err: error, group: groupId, topics }, 'the consumer cannot start yet');
      await delay(backoff(failures, { maxMs: 5_000 }), undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

const RESTART_MS = 1_000;

/**
 * Whether a broker disconnected between two steps of a join. The library then throws an error that it wrongly treats as
 * not fixable by a restart.
 */
const isLostBroker = ({ message }: Error): boolean =>
  message === 'Broker not connected' || message.startsWith('Failed to find group coordinator');

const SILENT_MS = 5 * 60_000;

/**
 * The library can stop silently after the loss of a broker; while it works, it fetches or sends heartbeats twice a
 * second.
 */
function watch(consumer: Consumer, state: { lastSignAt: number }, fatal: (error: Error) => void): NodeJS.Timeout {
  const sign = () => {
    state.lastSignAt = performance.now();
  };
  consumer.on('consumer.fetch_start', sign);
  consumer.on('consumer.heartbeat', sign);
  consumer.on('consumer.crash', sign);
  consumer.on('consumer.rebalancing', sign);
  consumer.on('consumer.network.request', sign);
  return setInterval(() => {
    if (performance.now() - state.lastSignAt > SILENT_MS)
      fatal(new Error('the consumer has been silent for five minutes'));
  }, 30_000).unref();
}

// Unreachable brokers: wait without limit. Any other repeated crash is a fault.
function isOutage(error: unknown): boolean {
  for (let at = error; isNativeError(at); at = at.cause) {
    if ('type' in at && typeof at.type === 'string' && OUTAGE_TYPES.has(at.type)) return true;
    if (OUTAGE_NAMES.has(at.name) || ('code' in at && typeof at.code === 'string' && /^E[A-Z_]+$/.test(at.code)))
      return true;
  }
  return false;
}

/** Errors of a restarted broker that has not loaded the group's offsets yet, or moved the group to another broker. */
const OUTAGE_TYPES = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);

const OUTAGE_NAMES = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSGroupCoordinatorNotFound',
]);
