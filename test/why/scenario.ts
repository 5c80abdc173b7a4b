import type { Caller } from '../support/system.ts';
import type { Asked } from './asked.ts';
import type { WhySystem } from './system.ts';

/** Of a limit that depends on how long earlier calls took. */
export interface Range {
  from: number;
  to: number;
}

/** One timeout that is made to happen, and what its spans have to say about it. */
export interface Scenario {
  name: string;
  title: string;
  /** What is done to the system, in a sentence. */
  broken: string;
  expected: { service: string; upstream: string; operation?: string; outcome: string; limitMs: number | Range };
  run: (system: WhySystem, caller: Caller) => Promise<Asked>;
}
