import { z } from 'zod';
import { clientRef } from '@vision/contracts/create-query';
import { endedReasons } from '@vision/contracts/ended-reason';
import { exampleTask, taskView } from '@vision/contracts/task-view';
import { MISSED, alarmEventTypes, taskEventTypes } from '../domain/event.ts';
import type { LoggedEvent } from '../domain/event.ts';
import { alarm } from './alarm.ts';

const taskEventData = z
  .object({
    task: taskView.describe('The task as it was when the event happened'),
    client_ref: clientRef.optional().describe('`client_ref` of the create request; absent without one'),
    reason: z.enum(endedReasons).optional().describe('Reason of a `failed` or `refunded` task'),
  })
  .meta({ id: 'TaskEventData', description: 'Data of events about a video task' });

const alarmEventData = z
  .object({ alarm: alarm.describe('The alarm as it was when the event happened') })
  .meta({ id: 'AlarmEventData', description: 'Data of events about an alarm' });

const sequence = z.int().meta({ format: 'int64' });

const missedEventData = z
  .object({
    after_sequence: sequence.describe('Number of the last event that you have read'),
    to_sequence: sequence.describe('Number of the last event that expired before you read it'),
  })
  .meta({ id: 'MissedEventData', description: 'Range of the log of which events have expired' });

const common = {
  event_id: z.uuid().describe('Identifier of the event; the same whenever and however the event is delivered'),
  timestamp: z.iso.datetime().describe('Time at which the event happened'),
  sequence: sequence.min(1).describe('Number of the event in your log, in ascending order'),
};

/** Readers have to be prepared for types that they do not know, so there is no discriminator. */
export const event = z
  .union([
    z
      .object({ ...common, type: z.enum(taskEventTypes), data: taskEventData })
      .meta({ id: 'TaskEvent', description: 'A video task has a new state' }),
    z
      .object({ ...common, type: z.enum(alarmEventTypes), data: alarmEventData })
      .meta({ id: 'AlarmEvent', description: 'An alarm opened, changed or closed' }),
    z
      .object({ ...common, type: z.literal(MISSED), data: missedEventData })
      .meta({ id: 'MissedEvents', description: 'Events expired before you read them; sent whatever `types` says' }),
  ])
  .meta({
    id: 'Event',
    description: 'Something that happened to your tasks. Later releases add types: ignore those you do not know',
  });

export const exampleEvent: z.infer<typeof event> = {
  event_id: '019cf0a3-60f2-7a10-8c44-1f0d2b7e8c10',
  type: 'task.running',
  timestamp: '2026-03-15T08:30:01.250Z',
  sequence: 1_773_563_401_262,
  data: { task: exampleTask('running') },
};

/** An event as callers see it. */
export const eventBody = (logged: LoggedEvent) =>
  ({
    event_id: logged.event_id,
    type: logged.type,
    timestamp: logged.occurred_at.toISOString(),
    sequence: logged.position,
    data: JSON.parse(logged.data) as unknown,
  }) as z.infer<typeof event>;
