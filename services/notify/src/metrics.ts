import { buckets } from '@vision/shared/telemetry/buckets';
import { counter, histogram } from '@vision/shared/telemetry/metric';
import { eventTypes } from './domain/event.ts';

/** What notify measures. */
export const metrics = {
  events: counter('vision.notify.events', { meaning: 'Events added to logs', labels: { type: eventTypes } }),
  eventAge: histogram('vision.notify.event_age', {
    meaning:
      'From a fact to its event in the log: from the change of a task, or from the frame by which an alarm of a live ' +
      'stream opened or closed',
    labels: { kind: ['task', 'alarm'] },
    buckets: buckets.lag,
  }),
};
