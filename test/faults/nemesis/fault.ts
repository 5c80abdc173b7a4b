import type { Store } from '../world/replicas.ts';
import type { World } from '../world/world.ts';

/** One kind of thing that goes wrong. */
export interface Fault {
  /** As the report lists it. */
  name: string;
  /** What it holds while it lasts: two faults at once never hold the same thing. */
  holds: readonly string[];
  /** Whether it can strike in this world; always when absent. */
  isPossible?: (world: World) => boolean;
  /**
   * Breaks something, waits, and puts it right again.
   * @returns whether anything came of it; a fault that met nobody counts for nothing.
   */
  strike: (struck: Struck) => Promise<boolean>;
}

export interface Struck {
  world: World;
  random: () => number;
  /** Time that it has when it is the only fault of the run. */
  lastsMs?: number | undefined;
  /** A note for the report: what exactly was hit. */
  note: (what: string) => void;
  /** Does something while nothing else holds `what`. */
  hold: <T>(what: string, work: () => Promise<T>) => Promise<T>;
}

/** What faults of a whole store hold. */
export const storeOf = (store: Store) => `store ${store}`;

/** Longer than every lease and ceiling of the settings of a run. */
export const PAST_LEASE_MS = 7_000;

/** How long most faults last. */
export const aMoment = (random: () => number) => 500 + random() * 2_500;

/** Strikes after all others, since what it takes away never comes back. */
export const HOLE = 'kafka: loses frames that were not read yet';

/** Strikes after all others, since much of what users were promised is gone with the commits. */
export const FAILOVER = 'postgres: fails over to a standby that lacks the last commits';
