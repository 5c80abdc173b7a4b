import { metrics } from '@opentelemetry/api';
import type { Outcome } from './settlement.ts';

/** Counters and gauges of one consumer group; labels are few and bounded. */
export function consumerSignals(groupId: string) {
  const meter = metrics.getMeter('vision.messaging');
  const events = meter.createCounter('vision.consumer.events', { description: 'Settled events by outcome' });
  const age = meter.createHistogram('vision.consumer.event_age', {
    unit: 's',
    description: 'From the fact to its handling',
    advice: { explicitBucketBoundaries: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800] },
  });
  const retries = meter.createCounter('vision.consumer.retries', { description: 'Repeated deliveries by cause' });
  const blocked = meter.createCounter('vision.consumer.blocked', {
    description: 'Failures beyond the tries of an event that may not be put aside',
  });
  const deadLetters = meter.createCounter('vision.consumer.dead_letters', {
    description: 'Events put into a dead letter topic; any growth is an alarm',
  });
  const crashes = meter.createCounter('vision.consumer.crashes', {
    description: 'Crashes of the consumer, restarted or not',
  });
  const rewinds = meter.createCounter('vision.consumer.rewinds', {
    description: 'Times the database had lost commits and their records were read again; any growth is an alarm',
  });
  const gaps = meter.createCounter('vision.consumer.gaps', {
    description: 'Times records were gone before they were handled, by cause; any growth is an alarm',
  });
  const joins = meter.createCounter('vision.consumer.joins', { description: 'Times the group gave out partitions' });
  const lag = meter.createGauge('vision.consumer.lag', {
    unit: '{message}',
    description: 'Messages behind the end of a partition after its last batch',
  });
  const group = { group: groupId };
  // A counter that first appears with its first event shows no increase, so alarms are there from the start with 0.
  for (const alarm of [deadLetters, blocked, crashes, rewinds]) alarm.add(0, group);
  for (const reason of ['removed', 'log_restarted']) gaps.add(0, { ...group, reason });
  return {
    settled: (type: string, outcome: Outcome, time?: Date) => {
      events.add(1, { ...group, type, outcome });
      if (outcome === 'dead-lettered') deadLetters.add(1, group);
      if (time) age.record(Math.max(0, Date.now() - time.getTime()) / 1000, { ...group, type });
    },
    retried: (isOutage: boolean) => retries.add(1, { ...group, cause: isOutage ? 'outage' : 'failure' }),
    blocked: () => blocked.add(1, group),
    crashed: () => crashes.add(1, group),
    /** The position in the database was behind this consumer. */
    rewound: () => rewinds.add(1, group),
    /** Records were removed unread, or the topic was made anew. */
    gap: (reason: 'removed' | 'log_restarted') => gaps.add(1, { ...group, reason }),
    joined: () => joins.add(1, group),
    lag: (topic: string, partition: number, value: number) => lag.record(value, { ...group, topic, partition }),
  };
}

export type ConsumerSignals = ReturnType<typeof consumerSignals>;
