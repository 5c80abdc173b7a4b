import { setTimeout as delay } from 'node:timers/promises';
import type { Workload } from './workload.ts';

const CLIENTS = 4;

/** Clients act for as long as the work takes. */
export async function underLoad<T>(workload: Workload, random: () => number, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      await workload.act();
      await delay(random() * 150);
    }
  });
  try {
    return await work();
  } finally {
    isOver = true;
    await Promise.all(clients);
  }
}
