import { processOf } from './process-faults.ts';
import type { Fault } from './fault.ts';

/** Longest time that a process may need to end in order while everything else is there. */
const STOP_MS = 45_000;

/** A new version goes out: each process is asked to end and started again, one after the other. */
const rollingRestart: Fault = {
  name: 'all services: restarted one process after the other',
  holds: ['rolling restart'],
  strike: async ({ world, note, hold }) => {
    for (const replica of world.replicas) {
      await hold(processOf(replica.name), async () => {
        const took = await replica.stop();
        if (took > STOP_MS) note(`${replica.name} took ${took} ms to end`);
        await replica.start();
      });
    }
    return true;
  },
};

export const systemFaults: Fault[] = [rollingRestart];
