import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { portOf } from '../../../deploy/local/settings.ts';
import type { World } from '../world/world.ts';
import { aMoment, PAST_LEASE_MS, storeOf } from './fault.ts';
import type { Fault } from './fault.ts';

/** The server stops or refuses writes by itself; it is started again when there is space. */
const fullStore = (store: 'postgres' | 'kafka'): Fault => ({
  name: `${store}: disk full`,
  holds: [storeOf(store)],
  isPossible: ({ disks }) => disks.has(store),
  strike: async ({ world, random }) => {
    const disk = world.disks.get(store);
    if (!disk || (store === 'postgres' && !isOnItsDisk(world))) return false;
    disk.fill();
    await delay(3_000 + aMoment(random));
    // A broker that may not write ends, sooner or later.
    if (store === 'kafka') world.killStore(store);
    disk.clear();
    await until(() => world.ensureStore(store).then(() => true));
    return true;
  },
});

/** A standby that took over has its data elsewhere. */
const isOnItsDisk = ({ database, settings }: World) => database.port() === portOf(settings, 'postgres');

/** Of one process of a service: videos that inference fetches, and pictures of image calls until they are whole. */
const fullFolder = (folder: 'work' | 'spool', name: string): Fault => ({
  name,
  holds: [`${folder} folder`],
  isPossible: ({ disks }) => disks.has(folder),
  strike: async ({ world, random }) => {
    const disk = world.disks.get(folder);
    if (!disk) return false;
    disk.fill();
    await delay(PAST_LEASE_MS + aMoment(random));
    disk.clear();
    return true;
  },
});

export const diskFaults: Fault[] = [
  fullStore('postgres'),
  fullStore('kafka'),
  fullFolder('work', 'inference-1: work folder full'),
  fullFolder('spool', 'images-1: spool folder full'),
];
