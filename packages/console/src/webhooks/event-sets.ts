import type { components } from '@vision/client';
import { t } from '../strings.ts';

export type Endpoint = components['schemas']['WebhookEndpoint'];
export type EventType = NonNullable<Endpoint['event_types']>[number];
/** Groups of events that viewers choose from; `some` is any other group. */
export type EventSet = 'all' | 'alarms' | 'tasks' | 'some';

const sets: Readonly<Record<'alarms' | 'tasks', EventType[]>> = {
  alarms: ['alarm.opened', 'alarm.updated', 'alarm.closed'],
  tasks: ['task.running', 'task.resolving', 'task.succeeded', 'task.stopped', 'task.failed', 'task.refunded'],
};

/** The types of a set; undefined: all types, those to come included. */
export const typesOf = (set: EventSet): EventType[] | undefined =>
  set === 'alarms' || set === 'tasks' ? sets[set] : undefined;

/** The events of an endpoint, in words. */
export function eventsText(types: Endpoint['event_types']): string {
  if (!types) return t.webhooks.sets.all;
  const isSame = (set: readonly string[]) =>
    set.length === types.length && set.every((type) => types.includes(type as EventType));
  if (isSame(sets.alarms)) return t.webhooks.sets.alarms;
  if (isSame(sets.tasks)) return t.webhooks.sets.tasks;
  return types.join(', ');
}
