import type { ConsumerRunConfig } from 'kafkajs';
import { consumerSignals } from './consumer-signals.ts';
import type { ConsumerSignals } from './consumer-signals.ts';
import type { KafkaClient } from './kafka.ts';
import { createProducer } from './producer.ts';
import type { EventProducer } from './producer.ts';
import { createSettlements } from './settlement.ts';
import type { Settlements } from './settlement.ts';
import { createSupervisor } from './supervise.ts';

export interface EventConsumer {
  /** Joins the group and keeps trying while Kafka is away; returns at once. */
  start: () => void;
  /** Resolves when the group has assigned partitions for the first time; starts may go on without it. */
  joined: Promise<void>;
  /** Resolves with what became of an event, also of one settled shortly before; for tests. */
  settled: Settlements['settled'];
  isRunning: () => boolean;
  /** For the liveness check; no outage makes it false. */
  isAlive: () => boolean;
  /** Lets the delivery under way finish (or leaves it uncommitted when it waits for a store), then leaves the group. */
  stop: (timeoutMs?: number) => Promise<void>;
}

export interface EventConsumerOptions {
  kafka: KafkaClient;
  groupId: string;
  /** Without prefix. */
  topics: string[];
  onFatal: (error: Error) => void;
}

/** What both kinds of consumers work with. */
export interface ConsumerTools {
  /** For dead letters. */
  producer: EventProducer;
  signals: ConsumerSignals;
  settlements: Settlements;
  /** Aborted when the consumer stops. */
  signal: AbortSignal;
  /** To be called when something was settled. */
  progressed: () => void;
}

/** A supervised member of a consumer group around the way in which events are worked on. */
export function createEventConsumer(
  { kafka, groupId, topics, onFatal }: EventConsumerOptions,
  workWith: (tools: ConsumerTools) => ConsumerRunConfig,
): EventConsumer {
  const stopping = new AbortController();
  const producer = createProducer(kafka);
  const signals = consumerSignals(groupId);
  const settlements = createSettlements();
  const progressed = () => supervisor.progressed();
  const run = workWith({ producer, signals, settlements, signal: stopping.signal, progressed });
  const supervisor = createSupervisor({ kafka, groupId, topics, signals, onFatal, run });
  return {
    start: supervisor.start,
    joined: supervisor.joined,
    settled: settlements.settled,
    isRunning: supervisor.isRunning,
    isAlive: supervisor.isAlive,
    stop: async (timeoutMs) => {
      stopping.abort();
      await supervisor.stop(timeoutMs);
      await producer.stop();
    },
  };
}
