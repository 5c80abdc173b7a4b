import { lines, query, stack } from './panels.ts';
import type { Section } from './panels.ts';
import { gauge, max, quantile, rate, sum } from './promql.ts';

export const webhooks: Section = {
  isClosed: true,
  title: 'Do callers hear of it?',
  panels: [
    stack(
      'Events logged',
      'Events added to the logs of subjects, by type; readers and webhooks get them from there.',
      [query('{{type}}', sum('type', rate('vision_notify_events_total')))],
      { unit: 'cps' },
    ),
    stack(
      'Attempts to deliver webhooks',
      'By how they ended. One failing receiver is its own matter; failures of all point at our way out.',
      [query('{{outcome}}', sum('outcome', rate('vision_notify_webhook_attempts_total')))],
      { unit: 'cps', traces: '{ name =~ "(resolve a webhook host|deliver a webhook)" && status = error }' },
    ),
    lines(
      'Event to answer of the receiver',
      'Of webhooks delivered at the first attempt: about a second. More for long: notify needs more replicas.',
      [query('p95', quantile(0.95, 'vision_notify_webhook_age_seconds', ''))],
      { unit: 's' },
    ),
    lines(
      'Due webhooks that are not sent',
      'Near 0. Above two minutes senders do not keep up or fail.',
      [query('longest wait', max('', 'vision_notify_webhooks_overdue_seconds'))],
      { unit: 's' },
    ),
    lines(
      'Pending webhooks and disabled endpoints',
      'Deliveries that wait, most of them for a receiver that fails; endpoints that wait for their owners; subjects whose receivers fail now.',
      [
        query('pending', max('', gauge('vision_notify_webhooks_pending'))),
        query('endpoints off', max('', gauge('vision_notify_webhook_endpoints_off'))),
        query('subjects with a failing endpoint', max('', gauge('vision_notify_webhook_subjects_failing'))),
      ],
      { unit: 'short' },
    ),
    lines(
      'MQTT endpoints',
      'Connected, and disabled because their broker failed for three days.',
      [
        query('connected', max('', gauge('vision_notify_mqtt_connected'))),
        query('endpoints off', max('', gauge('vision_notify_mqtt_endpoints_off'))),
      ],
      { unit: 'short' },
    ),
    lines(
      'MQTT: event to acknowledgement, and longest wait for a connection',
      'Under a second, and near 0 s. A wait above two minutes: no process connects.',
      [
        query('p95', quantile(0.95, 'vision_notify_mqtt_age_seconds', '')),
        query('longest wait', max('', 'vision_notify_mqtt_waiting_seconds')),
      ],
      { unit: 's' },
    ),
    stack(
      'Failed connections to MQTT brokers',
      'By how they failed or ended. One failing broker is its own matter; failures of all point at our way out.',
      [query('{{failure}}', sum('failure', rate('vision_notify_mqtt_failures_total')))],
      { unit: 'cps', traces: '{ name = "connect to a broker" && status = error }' },
    ),
    stack(
      'Webhooks that are not sent any more',
      'Dropped with deleted tasks and expired events, missed by endpoints with too many pending ones, endpoints disabled.',
      [
        query('dropped: {{reason}}', sum('reason', rate('vision_notify_webhooks_dropped_total'))),
        query('missed', sum('', rate('vision_notify_webhook_events_missed_total'))),
        query('endpoints: {{reason}}', sum('reason', rate('vision_notify_webhook_endpoints_disabled_total'))),
      ],
      { unit: 'cps' },
    ),
  ],
};
