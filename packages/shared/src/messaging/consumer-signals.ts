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
  const crashes = meter.createCounter('vision.consumer.crashes');
  const joins = meter.createCounter('vision.consumer.joins');
  const lag = meter.createGauge('vision.consumer.lag', { unit: '{message}' });
  const group = { group: groupId };
  return {
    settled: (type: string, outcome: Outcome, time?: Date) => {
      events.add(1, { ...group, type, outcome });
      if (time) age.record(Math.max(0, Date.now() - time.getTime()) / 1000, { ...group, type });
    },
    retried: (isOutage: boolean) => retries.add(1, { ...group, cause: isOutage ? 'outage' : 'failure' }),
    blocked: () => blocked.add(1, group),
    crashed: () => crashes.add(1, group),
    joined: () => joins.add(1, group),
    lag: (topic: string, partition: number, value: number) => lag.record(value, { ...group, topic, partition }),
  };
}

export type ConsumerSignals = ReturnType<typeof consumerSignals>;
