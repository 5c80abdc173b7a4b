import type { Arbitrary } from 'fast-check';
import type { Knex } from 'knex';
import type { Schema } from './database.ts';
import type { Process } from './steps.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A part of the system, and what callers rely on. */
export interface World<Plan = unknown> {
  name: string;
  /** `pglite` is fast and has one session; `postgres` where statements of two sessions meet. */
  server: 'memory' | 'pglite' | 'postgres';
  /** Of its database, unless all is in memory. */
  schema?: Schema;
  /** What happens in a schedule besides the order of its steps. */
  plan: Arbitrary<Plan>;
  /** Plays one schedule. @throws Broken when a promise to callers is broken */
  play: (stage: Stage, plan: Plan) => Promise<void>;
}

/** Where a schedule is played. */
export interface Stage {
  time: VirtualTime;
  /** Reads and writes at once, outside of the schedule. */
  db: Knex;
  /** A process with a pool of its own; it dies at its step `livesFor`, when that is given. */
  start: (name: string, livesFor?: number) => Promise<Process & { db: Knex }>;
  /** Runs this work step by step to its end. @param afterEach looks at the world between two steps */
  run: (work: (() => Promise<unknown>)[], afterEach?: () => Promise<void> | void) => Promise<void>;
  /** Moves time between other steps. */
  pass: (pausesMs: readonly number[]) => Promise<void>;
}

/** Keeps the type of the plan between `plan` and `play`. */
export const defineWorld = <Plan>(world: World<Plan>): World => world as World;
