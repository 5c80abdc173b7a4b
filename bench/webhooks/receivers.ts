import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { until } from '@vision/shared/testing/until';
import type { Arrival, Seen } from './receiver-thread.ts';

export interface Receivers {
  /** Port of all of them; each has an address of its own. */
  port: number;
  /** Waits for so many webhooks, and returns them. */
  take: (count: number) => Promise<Arrival[]>;
  /** Requests that are never answered, now. */
  hanging: () => Promise<number>;
  stop: () => Promise<void>;
}

export async function startReceivers(): Promise<Receivers> {
  const thread = new Worker(new URL('./receiver-thread.ts', import.meta.url));
  const answer = async <T>(): Promise<T> => ((await once(thread, 'message')) as [T])[0];
  const port = await answer<number>();
  const ask = (): Promise<Seen> => {
    const answered = answer<Seen>();
    thread.postMessage('seen');
    return answered;
  };
  return {
    port,
    take: async (count) => {
      const taken: Arrival[] = [];
      await until(async () => {
        taken.push(...(await ask()).arrivals);
        return taken.length >= count;
      });
      return taken;
    },
    hanging: async () => (await ask()).hanging,
    stop: async () => {
      await thread.terminate();
    },
  };
}
