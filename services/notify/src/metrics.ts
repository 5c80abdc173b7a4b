import { buckets } from '@vision/shared/telemetry/buckets';
import { counter, gauge, histogram } from '@vision/shared/telemetry/metric';
import { attemptOutcomes } from './domain/delivery.ts';
import { eventTypes } from './domain/event.ts';
import { mqttFailures } from './domain/mqtt-failure.ts';

/** Metrics of notify. */
export const metrics = {
  events: counter('vision.notify.events', { meaning: 'Events added to logs', labels: { type: eventTypes } }),
  eventAge: histogram('vision.notify.event_age', {
    meaning:
      'From a fact to its event in the log: from the change of a task, or from the frame by which an alarm of a live ' +
      'stream opened or closed',
    labels: { kind: ['task', 'alarm'] },
    buckets: buckets.lag,
  }),
  rulesCorrected: counter('vision.notify.rules_corrected', {
    meaning:
      'Alarm rules that results judged by and that this database lost, as after a restore; each was corrected in results',
  }),
  attempts: counter('vision.notify.webhook_attempts', {
    meaning: 'Attempts to deliver a webhook, by how they ended',
    labels: { outcome: attemptOutcomes },
  }),
  deliveryAge: histogram('vision.notify.webhook_age', {
    meaning: 'From an event to the answer of a receiver, of webhooks that were delivered at the first attempt',
    buckets: buckets.lag,
  }),
  pending: gauge('vision.notify.webhooks_pending', {
    meaning: 'Deliveries that are pending, those that wait for their next attempt included; counted up to 10000',
  }),
  overdue: gauge('vision.notify.webhooks_overdue', {
    unit: 's',
    meaning:
      'Time since the longest waiting delivery was due that could have been sent: its endpoint and its subject have a free ' +
      'slot in this process. 0 when none is due. Grows when senders do not keep up',
  }),
  failingSubjects: gauge('vision.notify.webhook_subjects_failing', {
    meaning:
      'Subjects with an enabled webhook endpoint whose last attempt failed; several at once while no attempt reaches a ' +
      'receiver point at the way out',
  }),
  dropped: counter('vision.notify.webhooks_dropped', {
    meaning:
      'Deliveries that were dropped because their task was deleted, their event is no longer retained, or the API key of ' +
      'their endpoint has ended',
    labels: { reason: ['task_deleted', 'event_removed', 'key_ended'] },
  }),
  missed: counter('vision.notify.webhook_events_missed', {
    unit: '{event}',
    meaning:
      'Events between the first and the last that an endpoint was not sent, because too many were pending for it',
  }),
  disabled: counter('vision.notify.webhook_endpoints_disabled', {
    meaning: 'Endpoints that were disabled: no answer for three days, 410, or their API key has ended',
    labels: { reason: ['failing', 'gone', 'key_revoked', 'no_key'] },
  }),
  mqttAge: histogram('vision.notify.mqtt_age', {
    meaning: 'From an event to the acknowledgement of a broker',
    buckets: buckets.lag,
  }),
  mqttFailures: counter('vision.notify.mqtt_failures', {
    meaning: 'Connections to brokers of callers that failed or ended, by how',
    labels: { failure: [...mqttFailures, 'internal_error'] },
  }),
  mqttConnected: gauge('vision.notify.mqtt_connected', {
    meaning: 'MQTT endpoints that a process is connected for; the same from each replica',
  }),
  mqttWaiting: gauge('vision.notify.mqtt_waiting', {
    unit: 's',
    meaning:
      'Longest time that an MQTT endpoint has waited for a process to connect to it, 0 when none waits; pauses after ' +
      'failures do not count',
  }),
  mqttOff: gauge('vision.notify.mqtt_endpoints_off', {
    meaning: 'MQTT endpoints that were disabled because their broker failed for three days',
  }),
  disabledNow: gauge('vision.notify.webhook_endpoints_off', {
    meaning: 'Endpoints that are disabled because they failed or are gone, until their owners enable or delete them',
  }),
};
