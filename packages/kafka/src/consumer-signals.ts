import type { Assignment } from './partition-cursors.ts';
import { createCounter, createHistogram, observe } from '@vision/shared/telemetry/instruments';
import { consumerMetrics } from '@vision/shared/telemetry/shared-metrics';
import type { Outcome } from './outcome.ts';

/** Counters and gauges of one consumer group. */
export function consumerSignals(groupId: string) {
  const group = { group: groupId };
  const events = createCounter(consumerMetrics.events, group);
  const age = createHistogram(consumerMetrics.eventAge, group);
  const retries = createCounter(consumerMetrics.retries, group);
  const blocked = createCounter(consumerMetrics.blocked, group);
  const deadLetters = createCounter(consumerMetrics.deadLetters, group);
  const crashes = createCounter(consumerMetrics.crashes, group);
  const rewinds = createCounter(consumerMetrics.rewinds, group);
  const gaps = createCounter(consumerMetrics.gaps, group);
  const joins = createCounter(consumerMetrics.joins, group);
  const partitions = watchPartitions(group);
  return {
    /** `type` is one that the consumer knows, or one fixed word for all others: records come from other processes. */
    settled: (type: string, outcome: Outcome, time?: Date) => {
      events.add(1, { type, outcome });
      if (outcome === 'dead-lettered') deadLetters.add(1);
      if (time) age.record(Math.max(0, Date.now() - time.getTime()) / 1000, { type });
    },
    retried: (isOutage: boolean) => retries.add(1, { cause: isOutage ? 'outage' : 'failure' }),
    blocked: () => blocked.add(1),
    crashed: () => {
      crashes.add(1);
      partitions.hold({});
    },
    /** The position in the database was behind this consumer. */
    rewound: () => rewinds.add(1),
    /** Records were removed unread, the topic was recreated, or an election lost records. */
    gap: (reason: 'removed' | 'log_restarted' | 'truncated') => gaps.add(1, { reason }),
    joined: (assignment: Assignment) => {
      joins.add(1);
      partitions.hold(assignment);
    },
    lag: partitions.lag,
    left: partitions.stop,
  };
}

export type ConsumerSignals = ReturnType<typeof consumerSignals>;

/** Reports only the partitions that this member holds: other members report the ones it has lost. */
function watchPartitions(group: { group: string }) {
  let held: Assignment = {};
  const lags = new Map<string, Map<number, number>>();
  const ends = [
    observe(consumerMetrics.partitions, (tell) => {
      for (const [topic, partitions] of Object.entries(held)) tell(partitions.length, { ...group, topic });
    }),
    observe(consumerMetrics.lag, (tell) => {
      for (const [topic, partitions] of Object.entries(held))
        for (const partition of partitions) {
          const lag = lags.get(topic)?.get(partition);
          if (lag !== undefined) tell(lag, { ...group, topic, partition });
        }
    }),
  ];
  return {
    hold: (assignment: Assignment) => {
      held = assignment;
      lags.clear();
    },
    /** How far a partition is behind its end after a batch. */
    lag: (topic: string, partition: number, behind: number) => {
      const ofTopic = lags.get(topic) ?? new Map<number, number>();
      lags.set(topic, ofTopic.set(partition, behind));
    },
    stop: () => ends.forEach((end) => end()),
  };
}
