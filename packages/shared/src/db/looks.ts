import type { Knex } from 'knex';
import { createPoller } from '../async/poller.ts';
import type { Poller } from '../async/poller.ts';
import type { Logger } from '../logger.ts';

/**
 * Work that a poller may have without a wake-up: what a dead process left, or what has become due by itself. The
 * looks of a service go into one statement.
 */
export interface Look {
  /** True in SQL while there is some; an index has to answer it. */
  isSome: string;
  /** Wakes the poller. */
  wake: () => void;
}

/** Pause of a poller that others look for; by itself it needs to come back for its housekeeping only. */
export const LOOKED_FOR_MS = 30_000;

/** SQL that says of each look whether there is something, in their order. */
export const anySome = (looks: Look[]): string => `array[${looks.map(({ isSome }) => isSome).join()}]::boolean[]`;

/** Wakes those for which `anySome` has found something. */
export function wakeFound(looks: Look[], found: boolean[]): void {
  for (const [index, { wake }] of looks.entries()) if (found[index]) wake();
}

/** A clock that goes back by less is a difference between two servers, or its correction. */
const STEP_S = 1;

/**
 * Looks again and again, in a service that has no other statement to put its looks into. `afterStepBack` is called
 * when the clock of the database was stepped back since the look before: what was to be done by that clock lies too far
 * ahead.
 */
export function createLooks({
  db,
  logger,
  intervalMs,
  looks,
  afterStepBack,
}: {
  db: Knex;
  logger: Logger;
  intervalMs: number;
  looks: Look[];
  afterStepBack?: () => Promise<void>;
}): Poller {
  let lastS = -Infinity;
  return createPoller({
    name: 'looks',
    intervalMs,
    maxBackoffMs: intervalMs,
    logger,
    run: async () => {
      const { rows } = await db.raw<{ rows: [{ found: boolean[]; nowS: number }] }>(
        `select ${anySome(looks)} as found, extract(epoch from now())::double precision as "nowS"`,
      );
      const [{ found, nowS }] = rows;
      wakeFound(looks, found);
      // A failure is tried again with the next look.
      if (nowS < lastS - STEP_S) await afterStepBack?.();
      lastS = nowS;
      return 0;
    },
  });
}
