import { subscribe } from 'node:diagnostics_channel';
import type { EventConsumer } from '../event-consumer.ts';
import { SETTLED } from '../outcome.ts';
import type { Outcome, SettledEvent } from '../outcome.ts';

interface Settlements {
  outcomes: Map<string, Outcome>;
  waiting: Map<string, Set<(outcome: Outcome) => void>>;
}

const REMEMBERED = 2_000;
const all = new WeakMap<object, Settlements>();

subscribe(SETTLED, (message) => {
  const { consumer, eventId, outcome } = message as SettledEvent;
  const { outcomes, waiting } = settlementsOf(consumer);
  outcomes.set(eventId, outcome);
  const [oldest] = outcomes.keys();
  if (outcomes.size > REMEMBERED && oldest !== undefined) outcomes.delete(oldest);
  for (const resolve of waiting.get(eventId) ?? []) resolve(outcome);
  waiting.delete(eventId);
});

/**
 * Resolves with the outcome of an event, also of one settled shortly before; lets a test wait for a fact instead of
 * time.
 * @throws Error when it is not settled in time.
 */
export async function untilSettled(consumer: EventConsumer, eventId: string, timeoutMs = 180_000): Promise<Outcome> {
  const { outcomes, waiting } = settlementsOf(consumer);
  const known = outcomes.get(eventId);
  if (known) return known;
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`event ${eventId} was not settled within ${timeoutMs} ms`));
    const timer = setTimeout(late, timeoutMs);
    const listeners = waiting.get(eventId) ?? new Set();
    listeners.add((outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    });
    waiting.set(eventId, listeners);
  });
}

function settlementsOf(consumer: object): Settlements {
  const known = all.get(consumer);
  if (known) return known;
  const settlements: Settlements = { outcomes: new Map(), waiting: new Map() };
  all.set(consumer, settlements);
  return settlements;
}
