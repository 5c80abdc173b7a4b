import type { ConsumerRunConfig } from 'kafkajs';
import type { Knex } from 'knex';
import { consumerSignals } from './consumer-signals.ts';
import type { ConsumerSignals } from './consumer-signals.ts';
import { atMost } from '@vision/shared/async/at-most';
import { createPoller } from '@vision/shared/async/poller';
import { comparePositions } from './compare-positions.ts';
import type { KafkaClient } from './kafka.ts';
import { createPartitionCursors } from './partition-cursors.ts';
import { passTogether } from './pass-together.ts';
import { passRecords } from './progress.ts';
import type { EffectTransaction, Passing, Records, Work } from './progress.ts';
import type { PersistOptions } from './persist.ts';
import { createProducer } from './producer.ts';
import type { EventProducer } from './producer.ts';
import { settledEvents } from './outcome.ts';
import type { Outcome, SettledEvent } from './outcome.ts';
import { createSupervisor } from './supervise.ts';

export interface EventConsumer {
  /** Joins the group and keeps trying while Kafka is unavailable; returns at once. */
  start: () => void;
  /** Resolves when the group has assigned partitions for the first time; a start need not wait for it. */
  joined: Promise<void>;
  /** For the liveness check; no outage makes it false. */
  isAlive: () => boolean;
  /** Lets the current delivery finish (or leaves it uncommitted when it waits for a store), then leaves the group. */
  stop: (timeoutMs?: number) => Promise<void>;
}

export interface EventConsumerOptions {
  /** The database that the effects go to; it has the table of `positionsMigration`. */
  db: Knex;
  kafka: KafkaClient;
  groupId: string;
  /** Without prefix. */
  topics: string[];
  /** What this member tells publishers that it reads (`group-features.ts`). */
  features?: readonly string[] | undefined;
  onFatal: (error: Error) => void;
  rebuilds?: boolean | undefined;
  /** Interval between comparisons of idle partitions' positions with their rows. */
  compareMs?: number | undefined;
}

/** What both kinds of consumers work with. */
export interface ConsumerTools {
  /** For dead letters. */
  producer: EventProducer;
  signals: ConsumerSignals;
  /** To be called for each settled event. */
  settled: (eventId: string, outcome: Outcome) => void;
  /** Aborted when the consumer stops. */
  signal: AbortSignal;
  /** Handles records in one transaction with the position. */
  pass: (records: Records, work: Work, retries: PersistOptions) => Promise<Passing>;
  /** Handles records of several partitions in one transaction with their positions; false: each has to go alone. */
  passTogether: (
    parts: readonly Records[],
    work: (transaction: EffectTransaction) => Promise<void>,
  ) => Promise<boolean>;
  /** To be called when any event was settled. */
  progressed: () => void;
}

/** A supervised member of a consumer group around the way in which events are worked on. */
export function createEventConsumer(
  { db, kafka, groupId, topics, features, onFatal, rebuilds = false, compareMs = 15_000 }: EventConsumerOptions,
  workWith: (tools: ConsumerTools) => ConsumerRunConfig,
): EventConsumer {
  const stopping = new AbortController();
  const producer = createProducer(kafka);
  const signals = consumerSignals(groupId);
  const cursors = createPartitionCursors({ expectsRows: rebuilds });
  const progressed = () => supervisor.progressed();
  const progress = () => ({ db, kafka, groupId, cursors, rebuilds, control: supervisor.control, signals });
  const pass: ConsumerTools['pass'] = (records, work, retries) => passRecords(progress(), records, work, retries);
  const run = workWith({
    producer,
    signals,
    settled: (eventId, outcome) => settledEvents.publish({ consumer, eventId, outcome } satisfies SettledEvent),
    signal: stopping.signal,
    pass,
    passTogether: (parts, work) => passTogether(progress(), parts, work),
    progressed,
  });
  const supervisor = createSupervisor({
    kafka,
    groupId,
    topics,
    features,
    signals,
    cursors,
    // Partitions without a row get theirs at once, so that every later backup contains it.
    onAssigned: () => comparer.wake(),
    onFatal,
    run,
  });
  const comparer = createPoller({
    name: `positions of ${groupId}`,
    intervalMs: compareMs,
    logger: kafka.logger,
    run: async () => {
      await comparePositions(progress());
      return 0;
    },
  });
  const consumer: EventConsumer = {
    start: () => {
      supervisor.start();
      comparer.start();
    },
    joined: supervisor.joined,
    isAlive: supervisor.isAlive,
    stop: async (timeoutMs) => {
      stopping.abort();
      await Promise.all([supervisor.stop(timeoutMs), atMost(1_000, comparer.stop())]);
      signals.left();
      await producer.stop();
    },
  };
  return consumer;
}
