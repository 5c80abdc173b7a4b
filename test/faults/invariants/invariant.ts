import type { State } from '../state.ts';

/** What must hold once everything is healed and quiet. `check` returns the breaches, empty when it holds. */
export interface Invariant {
  id: string;
  says: string;
  check: (state: State) => Promise<string[]> | string[];
}
