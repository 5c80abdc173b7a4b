import { z } from 'zod';
import { clientRef } from '@vision/contracts/create-query';
import { endedReasons } from '@vision/contracts/ended-reason';
import { exampleTask, taskView } from '@vision/contracts/task-view';
import { eventTypes } from '../domain/event.ts';
import type { LoggedEvent } from '../domain/event.ts';

const taskEventData = z
  .object({
    task: taskView.describe('The task as it was when the event happened'),
    client_ref: clientRef.optional().describe('`client_ref` of the create request; absent without one'),
    reason: z.enum(endedReasons).optional().describe('Reason of a `failed` or `refunded` task'),
  })
  .meta({ id: 'TaskEventData', description: 'Data of events about a video task' });

export const event = z
  .object({
    event_id: z.uuid().describe('Identifier of the event; the same whenever and however the event is delivered'),
    type: z.enum(eventTypes).describe('Type of the event. Later releases add types: ignore those you do not know'),
    timestamp: z.iso.datetime().describe('Time at which the event happened'),
    sequence: z.int().min(1).meta({ format: 'int64' }).describe('Number of the event in your log, in ascending order'),
    data: taskEventData,
  })
  .meta({ id: 'Event', description: 'Something that happened to your tasks' });

export const exampleEvent: z.infer<typeof event> = {
  event_id: '019cf0a3-60f2-7a10-8c44-1f0d2b7e8c10',
  type: 'task.running',
  timestamp: '2026-03-15T08:30:01.250Z',
  sequence: 41,
  data: { task: exampleTask('running') },
};

/** An event as callers see it. */
export const eventBody = (logged: LoggedEvent): z.infer<typeof event> => ({
  event_id: logged.event_id,
  type: logged.type,
  timestamp: logged.occurred_at.toISOString(),
  sequence: logged.position,
  data: JSON.parse(logged.data) as z.infer<typeof taskEventData>,
});
