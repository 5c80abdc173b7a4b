import type { Logger } from '@vision/shared/logger';
import { createCounter } from '@vision/shared/telemetry/instruments';
import type { NewEvent } from './domain/event.ts';
import { metrics } from './metrics.ts';

export type Signals = ReturnType<typeof createSignals>;

/** Everything that notify tells an operator, in one place. Labels are few and never ids. */
export function createSignals(logger: Logger) {
  const events = createCounter(metrics.events);
  return {
    eventLogged: ({ type, taskId, eventId }: NewEvent) => {
      events.add(1, { type });
      logger.info({ task_id: taskId, event_id: eventId, type }, 'event logged');
    },
    taskForgotten: (taskId: string, removed: number) => {
      logger.info({ task_id: taskId, events: removed }, 'events of a deleted task were removed');
    },
    retentionRan: (removed: { events: number; tasks: number }) => {
      if (removed.events + removed.tasks > 0) logger.info(removed, 'expired events were removed');
    },
  };
}
