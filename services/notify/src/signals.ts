import type { Logger } from '@vision/shared/logger';
import { createCounter, createHistogram } from '@vision/shared/telemetry/instruments';
import type { StoredRule } from './domain/alarm-rule.ts';
import type { NewEvent } from './domain/event.ts';
import { metrics } from './metrics.ts';

/** Rows that retention removed. */
export interface Removed {
  events: number;
  alarms: number;
  rules: number;
  tasks: number;
}

export type Signals = ReturnType<typeof createSignals>;

/** Everything that notify tells an operator, in one place. Labels are few and never ids. */
export function createSignals(logger: Logger) {
  const events = createCounter(metrics.events);
  const eventAge = createHistogram(metrics.eventAge);
  return {
    eventLogged: ({ type, taskId, eventId, factAt }: NewEvent) => {
      events.add(1, { type });
      const kind = type.startsWith('alarm.') ? 'alarm' : 'task';
      if (factAt !== undefined) eventAge.record(Math.max(0, Date.now() - factAt) / 1000, { kind });
      logger.info({ task_id: taskId, event_id: eventId, type }, 'event logged');
    },
    ruleChanged: ({ rule_id, version }: StoredRule, change: 'created' | 'changed' | 'deleted') => {
      logger.info({ rule_id, version, change }, 'alarm rule changed');
    },
    taskForgotten: (taskId: string, removed: { events: number; alarms: number }) => {
      logger.info({ task_id: taskId, ...removed }, 'events of a deleted task were removed');
    },
    retentionRan: (removed: Removed) => {
      if (Object.values(removed).some((count) => count > 0)) logger.info(removed, 'expired events were removed');
    },
  };
}
