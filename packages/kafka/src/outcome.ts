import { channel } from 'node:diagnostics_channel';

/** Outcome of a delivered event. */
export type Outcome = 'handled' | 'skipped' | 'dead-lettered';

/** What is published of each event that a consumer is done with. */
export interface SettledEvent {
  /** Its `EventConsumer`. */
  consumer: object;
  eventId: string;
  outcome: Outcome;
}

/** The diagnostics channel of settled events. */
export const SETTLED = 'vision.kafka.settled';

/** For tests and tools that watch a consumer in its process; costs nothing while none does. */
export const settledEvents = channel(SETTLED);
