import { counter } from '@vision/shared/telemetry/metric';
import { eventTypes } from './domain/event.ts';

/** What notify measures. */
export const metrics = {
  events: counter('vision.notify.events', { meaning: 'Events added to logs', labels: { type: eventTypes } }),
};
