import type { Caller } from '../support/system.ts';
import type { Stores } from '../faults/stores.ts';
import type { Replica, Service } from '../faults/world/replicas.ts';
import type { World } from '../faults/world/world.ts';
import type { Load } from './load.ts';

/** What rotations are made on. */
export interface Stage {
  world: World;
  stores: Stores;
  load: Load;
  /** Makes a caller whom the load does not know. */
  createCaller: () => Promise<Caller>;
}

/** One thing that an operator does; the services named are then restarted, one replica of each after the other. */
export interface Step {
  /** As docs/rotation.md says it. */
  says: string;
  services: readonly Service[];
  secrets: (replica: Replica) => NodeJS.ProcessEnv;
  /** Before the restarts: what is done at a store, or waited for. */
  before?: () => Promise<void> | void;
  /** When all of them are back. */
  after?: () => Promise<void> | void;
}

/** The documented order for one secret. */
export interface Rotation {
  /** For `ONLY=`. */
  name: string;
  says: string;
  steps: readonly Step[];
  /** What the old secret still opens when all is done; empty when nothing. */
  stillOpen: () => Promise<string[]>;
  /** What can be done only when nobody uses the system any more; returns what is wrong after that. */
  whenQuiet?: () => Promise<string[]>;
}

/** Nothing is restarted: the operator acts at a store, and services notice nothing. */
export const atTheStore = (says: string, before: () => Promise<void>): Step => ({
  says,
  services: [],
  secrets: () => ({}),
  before,
});

/** Processes that are replaced at a time: starting is most of the work, and this machine has few cores. */
const AT_ONCE = 2;

/** Performs a step as a platform does that replaces replicas one after the other. */
export async function perform(world: World, step: Step): Promise<void> {
  await step.before?.();
  const affected = world.replicas.filter(({ service }) => step.services.includes(service));
  for (const replica of affected) replica.setSecrets(step.secrets(replica));
  // First one of each service, then the other: never both.
  for (const number of [1, 2]) {
    const next = affected.filter(({ name }) => name.endsWith(`-${number}`));
    for (let at = 0; at < next.length; at += AT_ONCE) await Promise.all(next.slice(at, at + AT_ONCE).map(replace));
  }
  await step.after?.();
}

async function replace(replica: Replica): Promise<void> {
  await replica.stop();
  await replica.start();
}
