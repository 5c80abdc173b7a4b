import { setTimeout as delay } from 'node:timers/promises';
import { aMoment, PAST_LEASE_MS, storeOf } from './fault.ts';
import type { Fault } from './fault.ts';

/** Brokers beside the first end without a word; the others lead their partitions once that is noticed. */
const killFollowers = (title: string, count: 1 | 2): Fault => ({
  name: `kafka: ${title}`,
  holds: [storeOf('kafka')],
  isPossible: ({ followers }) => followers.length === 2,
  strike: async ({ world, random }) => {
    const first = random() < 0.5 ? 0 : 1;
    const killed = world.followers.filter((_, index) => count === 2 || index === first);
    for (const name of killed) world.killFollower(name);
    await delay(PAST_LEASE_MS + aMoment(random));
    await world.ensureStore('kafka');
    return true;
  },
});

export const brokerFaults: Fault[] = [
  killFollowers('a broker is lost and its partitions get other leaders', 1),
  killFollowers('fewer replicas are in sync than a write needs', 2),
];
