import type { z } from 'zod';

/**
 * What travels with an event as CloudEvents 1.0 Kafka headers (binary mode) with `data` as JSON as the value; of a
 * binary event the type only, with bytes that the event defines itself.
 */
export interface EventDefinition<T = unknown> {
  /** `ce_type`; a changed meaning gets a new version suffix. */
  type: string;
  topic: string;
  /** Reads the JSON of a value; of a binary event its bytes. */
  schema: z.ZodType<T>;
  binary?: BinaryEvent | undefined;
  /** What the document of the events says about it; every event of the contract has one. */
  doc?: EventDoc<NoInfer<T>> | undefined;
}

/** An event whose value is no JSON. */
export interface BinaryEvent {
  /** The service that publishes it, which its records do not name. */
  source: string;
  /**
   * For how many small events a value counts where events are handled together, so that memory stays bounded. Reads no
   * more than its start and throws nothing; the schema checks what is said there.
   */
  load: (value: Uint8Array) => number;
  /** What the value holds, for the document of the events. */
  description: string;
}

export interface EventDoc<T> {
  /** The service that publishes it; `inference` stands for any inference backend. */
  sentBy: string;
  /** The services that act on it. */
  receivedBy: string[];
  summary: string;
  example: T;
}

/**
 * Declares one event type: its name, the topic it travels on and the shape of its data.
 *
 * Versions of services run side by side, so consumers pass over types they do not know and ignore fields they do not
 * know (`z.object`). A field may therefore be added; it is optional until every publisher sends it. A new value of an
 * enumeration cannot be ignored: it is a new version of the event, published beside the old one until no consumer needs
 * that any more.
 */
export function defineEvent<T>(definition: EventDefinition<T>): EventDefinition<T> {
  return definition;
}
