import { setTimeout as delay } from 'node:timers/promises';
import type { Workload } from './workload.ts';

const CLIENTS = 4;
export const PAUSE_MS = 150;

/** Clients act for as long as the work takes, with a pause of so much between two acts at most. */
export async function underLoad<T>(
  workload: Workload,
  { random, pauseMs = PAUSE_MS }: { random: () => number; pauseMs?: number },
  work: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      await workload.act();
      await delay(random() * pauseMs);
    }
  });
  try {
    return await work();
  } finally {
    isOver = true;
    await Promise.all(clients);
  }
}
