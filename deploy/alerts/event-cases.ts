import type { AlertCase } from './cases.ts';
import { growing, together } from './series.ts';

const logged = (le: string, perMinute: number) =>
  growing(`vision_notify_event_age_seconds_bucket{service="notify",kind="alarm",le="${le}"}`, perMinute, 40);
const eventsOf = (le: string, perMinute: number) =>
  growing(`vision_consumer_event_age_seconds_bucket{group="tasks",type="x",le="${le}"}`, perMinute, 20);

/** Events that come late: to their consumers, and into the logs of callers. */
export const eventCases: Record<string, AlertCase> = {
  VisionEventsLate: {
    atMinute: 18,
    fires: {
      when: together(eventsOf('5', 10), eventsOf('60', 60), eventsOf('+Inf', 60)),
      labels: { group: 'tasks' },
      summary: 'Events reach tasks late',
    },
    stays: { 'events in time': together(eventsOf('5', 60), eventsOf('60', 60), eventsOf('+Inf', 60)) },
  },
  VisionEventLogLate: {
    atMinute: 18,
    fires: {
      when: together(logged('5', 10), logged('60', 60), logged('+Inf', 60)),
      labels: { kind: 'alarm' },
      summary: 'Events about alarms are logged late',
    },
    stays: { 'events in time': together(logged('5', 60), logged('60', 60), logged('+Inf', 60)) },
  },
};
