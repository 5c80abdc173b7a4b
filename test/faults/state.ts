import type { Stores } from './stores.ts';
import type { Workload } from './workload.ts';
import type { Strike } from './nemesis/nemesis.ts';
import type { World } from './world/world.ts';

/** What a run leaves to be looked at. */
export interface State {
  world: World;
  workload: Workload;
  stores: Stores;
  strikes: readonly Strike[];
}

/** Enough for questions about what is stored. */
export type Stored = Pick<State, 'stores'>;
