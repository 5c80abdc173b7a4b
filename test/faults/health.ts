import { setTimeout as delay } from 'node:timers/promises';
import type { Replica } from './world/replicas.ts';

/** Asks every process again and again how it is; silence says nothing. */
export function watchHealth(replicas: readonly Replica[]): { stop: () => Promise<string[]> } {
  const over = new AbortController();
  const unwell = new Set<string>();
  const ask = async (replica: Replica, what: 'ready' | 'live') => {
    const wasWell = replica.mustBeWell();
    const answer = await fetch(`${replica.healthUrl}/health/${what}`, { signal: AbortSignal.timeout(3_000) }).catch(
      () => undefined,
    );
    const isUnwell = answer !== undefined && answer.status !== 200;
    if (isUnwell && wasWell && replica.mustBeWell()) unwell.add(`${replica.name} ${what}: ${answer.status}`);
  };
  const watching = (async () => {
    while (!over.signal.aborted) {
      await Promise.all(replicas.flatMap((replica) => [ask(replica, 'ready'), ask(replica, 'live')]));
      await delay(1_000);
    }
  })();
  return {
    stop: async () => {
      over.abort();
      await watching;
      return [...unwell];
    },
  };
}
