import type { AlarmSnapshot } from '@vision/contracts/alarm-events';
import type { Logger } from '@vision/shared/logger';
import { createCounter, createGauge, createHistogram } from '@vision/shared/telemetry/instruments';
import type { StoredRule } from './domain/alarm-rule.ts';
import type { AttemptOutcome, DisabledReason } from './domain/delivery.ts';
import type { NewEvent } from './domain/event.ts';
import type { MqttFailure } from './domain/mqtt-failure.ts';
import { metrics } from './metrics.ts';

/** Rows that retention removed. */
export interface Removed {
  events: number;
  alarms: number;
  rules: number;
  tasks: number;
  deliveries: number;
}

export type Signals = ReturnType<typeof createSignals>;

/** All logs and metrics of notify for operators. Labels have few values and never ids. */
export function createSignals(logger: Logger) {
  const events = createCounter(metrics.events);
  const eventAge = createHistogram(metrics.eventAge);
  const attempts = createCounter(metrics.attempts);
  const dropped = createCounter(metrics.dropped);
  const missed = createCounter(metrics.missed);
  const disabled = createCounter(metrics.disabled);
  const deliveryAge = createHistogram(metrics.deliveryAge);
  const deliveriesDropped = (reason: DropReason, deliveries: number) => {
    if (deliveries > 0) dropped.add(deliveries, { reason });
  };
  return {
    eventLogged: ({ type, taskId, eventId, factAt }: NewEvent) => {
      events.add(1, { type });
      const kind = type.startsWith('alarm.') ? 'alarm' : 'task';
      if (factAt !== undefined) eventAge.record(Math.max(0, Date.now() - factAt) / 1000, { kind });
      logger.info({ task_id: taskId, event_id: eventId, type }, 'event logged');
    },
    taskForgotten: (taskId: string, removed: { events: number; alarms: number; deliveries: number }) => {
      deliveriesDropped('task_deleted', removed.deliveries);
      logger.info({ task_id: taskId, ...removed }, 'events of a deleted task were removed');
    },
    ...ruleSignals(logger),
    deliveriesDropped,
    /** `ageMs`: from the event to the response, for webhooks that were delivered at the first attempt. */
    webhookDelivered: (ageMs: number | undefined) => {
      attempts.add(1, { outcome: 'delivered' });
      if (ageMs !== undefined) deliveryAge.record(Math.max(0, ageMs) / 1000);
    },
    webhookFailed: (outcome: Exclude<AttemptOutcome, 'delivered'>, facts: FailedWebhook) => {
      attempts.add(1, { outcome });
      const { delivery_id, event_id, host, status } = facts;
      logger.info({ delivery_id, event_id, host, outcome, status }, 'a webhook was not delivered');
    },
    /** Each attempt is then stored separately. */
    attemptsNotStoredTogether: (error: unknown, attempts: number) => {
      logger.warn({ err: error, attempts }, 'outcomes of webhooks not stored together; each is stored by itself');
    },
    endpointDisabled: (reason: Exclude<DisabledReason, 'requested'>, host: string, event: NewEvent) => {
      disabled.add(1, { reason });
      events.add(1, { type: event.type });
      logger.warn({ subject: event.subject, event_id: event.eventId, host, reason }, 'a webhook endpoint was disabled');
    },
    eventsMissed: ({ host, events: count }: { host: string; events: number }) => {
      missed.add(count);
      events.add(1, { type: 'events.missed' });
      logger.warn({ host, events: count }, 'a webhook endpoint missed events: too many deliveries were pending');
    },
    endpointsResealed: (endpoints: number) => {
      logger.info({ endpoints }, 'webhook endpoints were encrypted with the first key');
    },
    ...createMqttSignals(logger, ({ type }) => {
      events.add(1, { type });
    }),
    webhooksStand: createWebhookGauges(),
    retentionRan: (removed: Removed) => {
      if (Object.values(removed).some((count) => count > 0)) logger.info(removed, 'expired events were removed');
    },
  };
}

function ruleSignals(logger: Logger) {
  const rulesCorrected = createCounter(metrics.rulesCorrected);
  return {
    ruleChanged: ({ rule_id, version }: StoredRule, change: 'created' | 'changed' | 'deleted') => {
      logger.info({ rule_id, version, change }, 'alarm rule changed');
    },
    ruleCorrected: ({ subject, rule_id, rule_version }: EvaluatedRule) => {
      rulesCorrected.add(1);
      logger.warn({ subject, rule_id, rule_version }, 'alarm by a rule that is not stored here; corrected in results');
    },
  };
}

type EvaluatedRule = Pick<AlarmSnapshot, 'subject' | 'rule_id' | 'rule_version'>;
type DropReason = (typeof metrics.dropped.labels.reason)[number];

interface FailedWebhook {
  delivery_id: string;
  event_id: string;
  host: string;
  status?: number | undefined;
}

/** Metrics and log lines of connections to brokers. */
function createMqttSignals(logger: Logger, logged: (event: NewEvent) => void) {
  const age = createHistogram(metrics.mqttAge);
  const failures = createCounter(metrics.mqttFailures);
  return {
    /** `ageMs`: from the event to the acknowledgement. */
    mqttPublished: (ageMs: number) => {
      age.record(Math.max(0, ageMs) / 1000);
    },
    mqttConnected: (host: string) => {
      logger.info({ host }, 'connected to an MQTT broker');
    },
    mqttFailed: (failure: MqttFailure | 'internal_error', host: string) => {
      failures.add(1, { failure });
      logger.info({ host, failure }, 'the connection to an MQTT broker failed or ended');
    },
    mqttDisabled: (host: string, event: NewEvent) => {
      logged(event);
      logger.warn({ subject: event.subject, event_id: event.eventId, host }, 'an MQTT endpoint was disabled');
    },
    brokersResealed: (endpoints: number) => {
      logger.info({ endpoints }, 'MQTT endpoints were encrypted with the first key');
    },
    mqttStands: createMqttGauges(),
  };
}

function createMqttGauges() {
  const connected = createGauge(metrics.mqttConnected);
  const waiting = createGauge(metrics.mqttWaiting);
  const off = createGauge(metrics.mqttOff);
  return (state: { connected: number; waiting_s: number; disabled: number }) => {
    connected.record(state.connected);
    waiting.record(state.waiting_s);
    off.record(state.disabled);
  };
}

function createWebhookGauges() {
  const pending = createGauge(metrics.pending);
  const overdue = createGauge(metrics.overdue);
  const disabled = createGauge(metrics.disabledNow);
  const failing = createGauge(metrics.failingSubjects);
  return (state: { pending: number; overdue_s: number; disabled: number; failing: number }) => {
    pending.record(state.pending);
    overdue.record(state.overdue_s);
    disabled.record(state.disabled);
    failing.record(state.failing);
  };
}
