import { z } from 'zod';
import type { EventDefinition } from '@vision/contracts/envelope';
import type { EventHeaders } from './cloud-event.ts';
import type { EffectTransaction } from './progress.ts';

/** An event as a handler gets it: its headers, its key and its checked data. */
export interface ReceivedEvent<T> extends EventHeaders {
  key: string;
  data: T;
}

/** Where a delivery came from. */
export interface DeliveryMeta {
  topic: string;
  partition: number;
  offset: string;
  /** 1 for the first try in this process. */
  attempt: number;
  /** The one transaction of this delivery. It also moves the position of the consumer, so effects belong into it. */
  transaction: EffectTransaction;
  /** Aborted when the service stops. */
  signal: AbortSignal;
}

/**
 * Applies an event, in `meta.transaction`. Delivered at least once, late or out of order, so applying it twice must
 * change nothing: go by unique keys and versions. Returning goes on with the next event. An error of kind `unavailable`
 * (also a lost database connection) is waited out; any other error is a fault of the event or the code, and after some
 * attempts the event goes to `<topic>.dlq`.
 */
export type EventHandler<T> = (event: ReceivedEvent<T>, meta: DeliveryMeta) => Promise<void>;

export interface Subscription {
  definition: EventDefinition;
  /** Checks the data; `run` calls the handler with it. */
  prepare: (received: Omit<ReceivedEvent<unknown>, 'data'>, data: unknown) => Prepared;
}

export type Prepared = { run: (meta: DeliveryMeta) => Promise<void> } | { problem: string };

/** Binds a handler to an event type. */
export function on<T>(definition: EventDefinition<T>, handler: EventHandler<T>): Subscription {
  return {
    definition,
    prepare: (received, data) => {
      const parsed = definition.schema.safeParse(data);
      if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
      return { run: (meta) => handler({ ...received, data: parsed.data }, meta) };
    },
  };
}

/** Whether a received event is of this type; its data has then been checked against the definition's schema. */
export function isEvent<T>(definition: EventDefinition<T>, event: ReceivedEvent<unknown>): event is ReceivedEvent<T> {
  return event.type === definition.type;
}
