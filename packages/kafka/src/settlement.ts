/** Outcome of a delivered event. */
export type Outcome = 'handled' | 'skipped' | 'dead-lettered';

export interface Settlements {
  record: (eventId: string, outcome: Outcome) => void;
  /**
   * Resolves with the outcome of an event, also of one settled shortly before; lets a test wait for a fact
   * instead of time.
   * @throws Error when it is not settled in time.
   */
  settled: (eventId: string, timeoutMs?: number) => Promise<Outcome>;
}

const REMEMBERED = 2_000;

export function createSettlements(): Settlements {
  const outcomes = new Map<string, Outcome>();
  const waiting = new Map<string, Set<(outcome: Outcome) => void>>();
  return {
    record: (eventId, outcome) => {
      outcomes.set(eventId, outcome);
      const [oldest] = outcomes.keys();
      if (outcomes.size > REMEMBERED && oldest !== undefined) outcomes.delete(oldest);
      for (const resolve of waiting.get(eventId) ?? []) resolve(outcome);
      waiting.delete(eventId);
    },
    settled: (eventId, timeoutMs = 180_000) => {
      const known = outcomes.get(eventId);
      if (known) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`event ${eventId} was not settled within ${timeoutMs} ms`)),
          timeoutMs,
        );
        const listeners = waiting.get(eventId) ?? new Set();
        listeners.add((outcome) => {
          clearTimeout(timer);
          resolve(outcome);
        });
        waiting.set(eventId, listeners);
      });
    },
  };
}
