import { z } from 'zod';
import { clientRef } from '@vision/contracts/create-query';
import { endedReasons } from '@vision/contracts/ended-reason';
import { exampleTask, taskView } from '@vision/contracts/task-view';
import { disabledReasons } from '../domain/delivery.ts';
import { MISSED, alarmEventTypes, endpointEventTypes, taskEventTypes } from '../domain/event.ts';
import { alarm, exampleAlarm } from './alarm.ts';

const sequence = z.int().min(1).meta({ format: 'int64' });
const endpointId = z.string().describe('`endpoint_id` of the webhook or MQTT endpoint');

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

const endpointEventData = z
  .object({
    endpoint_id: endpointId,
    reason: z
      .enum(disabledReasons)
      .optional()
      .describe(
        'Reason of `webhook_endpoint.disabled` and `mqtt_endpoint.disabled`: `failing` for three days, `gone` (the ' +
          'receiver answered 410), `key_revoked` (the API key that changed the endpoint last was revoked), or `no_key` ' +
          '(you had no valid API key)',
      ),
  })
  .meta({ id: 'WebhookEndpointEventData', description: 'Data of events about a webhook or MQTT endpoint' });

const missedEventData = z
  .object({
    endpoint_id: endpointId
      .optional()
      .describe(
        'Webhook endpoint that was not sent them; absent: they have expired, or were lost with the database of the service',
      ),
    first_sequence: sequence.describe('Number from which on events are missing'),
    last_sequence: sequence.describe('Number of the last event that is missing'),
    cursor: z
      .string()
      .optional()
      .describe('Send it to `GET /v1/vision/events` to read the events that an endpoint was not sent'),
  })
  .meta({ id: 'MissedEventsData', description: 'Events that are missing here' });

const head = {
  event_id: z.uuid().describe('Identifier of the event; the same whenever and however the event is delivered'),
  timestamp: z.iso.datetime().describe('Time at which the event happened'),
  sequence: sequence.describe('Number of the event in your log, in ascending order'),
};
const TYPE = 'Type of the event. Later releases add types: ignore those you do not know';

/** Events about a video task. */
export const taskEvent = z
  .object({ ...head, type: z.enum(taskEventTypes).describe(TYPE), data: taskEventData })
  .meta({ id: 'TaskEvent', description: 'Something that happened to a video task' });

/** Events about a webhook or MQTT endpoint. */
export const endpointEvent = z
  .object({ ...head, type: z.enum(endpointEventTypes).describe(TYPE), data: endpointEventData })
  .meta({ id: 'WebhookEndpointEvent', description: 'A webhook or MQTT endpoint was disabled, or a webhook tested' });

/** Events about an alarm. */
export const alarmEvent = z
  .object({ ...head, type: z.enum(alarmEventTypes).describe(TYPE), data: alarmEventData })
  .meta({ id: 'AlarmEvent', description: 'An alarm opened, changed or closed' });

/** Missing events: an endpoint was not sent them, they expired before they were read, or were lost. */
export const missedEvent = z.object({ ...head, type: z.literal(MISSED).describe(TYPE), data: missedEventData }).meta({
  id: 'MissedEvents',
  description: 'Events that are missing at this point; pages contain it for any filter of `types`',
});

/** Readers have to accept unknown types, so there is no discriminator. */
export const event = z
  .union([taskEvent, alarmEvent, endpointEvent, missedEvent])
  .meta({ id: 'Event', description: 'Something that happened to your tasks, alarms or webhook endpoints' });

export const exampleEvent: z.infer<typeof taskEvent> = {
  event_id: '019cf0a3-60f2-7a10-8c44-1f0d2b7e8c10',
  type: 'task.running',
  timestamp: '2026-03-15T08:30:01.250Z',
  sequence: 1_773_563_401_262,
  data: { task: exampleTask('running') },
};

export const exampleAlarmEvent: z.infer<typeof alarmEvent> = {
  event_id: '019cf0a3-6a08-7c44-9b1f-2d0d2b7e8c13',
  type: 'alarm.closed',
  timestamp: '2026-03-15T09:00:21.400Z',
  sequence: 1_773_565_221_431,
  data: { alarm: exampleAlarm },
};

export const exampleTestEvent: z.infer<typeof endpointEvent> = {
  event_id: '019cf0a3-7d10-7b21-9c55-2e0d2b7e8c11',
  type: 'webhook_endpoint.test',
  timestamp: '2026-03-15T08:31:00.000Z',
  sequence: 1_773_563_460_012,
  data: { endpoint_id: 'alarm-centre' },
};

export const exampleMissedEvent: z.infer<typeof missedEvent> = {
  event_id: '019cf0a3-8e20-7c32-8d66-3f0d2b7e8c12',
  type: 'events.missed',
  timestamp: '2026-03-15T09:00:00.000Z',
  sequence: 1_773_565_200_011,
  data: {
    endpoint_id: 'alarm-centre',
    first_sequence: 1_773_563_401_263,
    last_sequence: 1_773_565_199_874,
    cursor: 'AQAAAAAAAAAAKQAAAAAAAAApJzt6dWZpS0VtDR3dMFiJ0A',
  },
};
