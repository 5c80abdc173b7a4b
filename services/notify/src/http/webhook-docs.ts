import type { z } from 'zod';
import {
  alarmEvent,
  endpointEvent,
  exampleAlarmEvent,
  exampleEvent,
  exampleMissedEvent,
  exampleTestEvent,
  missedEvent,
  taskEvent,
} from './event.ts';

/** A request that the service sends to endpoints of callers, for the public document. */
export interface WebhookDoc {
  name: string;
  summary: string;
  description: string;
  schema: z.ZodType;
  example: unknown;
}

const SIGNED =
  'Signed by Standard Webhooks 1.0: `webhook-id` is the `event_id`, `webhook-timestamp` the time of the attempt in ' +
  'seconds since 1970, `webhook-signature` one or two signatures. Check them on the body as received. Answer 2xx within ' +
  '15 s; the same event may arrive more than once and later than newer ones.';

/** The bodies of webhooks, by their subject matter. */
export const webhookDocs: WebhookDoc[] = [
  {
    name: 'taskEvent',
    summary: 'A video task has a new state',
    description: SIGNED,
    schema: taskEvent,
    example: exampleEvent,
  },
  {
    name: 'alarmEvent',
    summary: 'An alarm opened, changed or closed',
    description: SIGNED,
    schema: alarmEvent,
    example: exampleAlarmEvent,
  },
  {
    name: 'webhookEndpointEvent',
    summary: 'A webhook or MQTT endpoint was disabled, or a webhook tested',
    description: `${SIGNED} A test is sent to the tested endpoint only.`,
    schema: endpointEvent,
    example: exampleTestEvent,
  },
  {
    name: 'eventsMissed',
    summary: 'The endpoint was not sent some events',
    description: `${SIGNED} Sent to the endpoint concerned, regardless of its \`event_types\`.`,
    schema: missedEvent,
    example: exampleMissedEvent,
  },
];
