import type { Knex } from 'knex';
import { createPoller } from '../async/poller.ts';
import type { Poller } from '../async/poller.ts';
import type { Logger } from '../logger.ts';

/**
 * Work that a poller may have without a wake-up: what a dead process left, or what has become due by itself. One
 * statement asks for all due work of a service.
 */
export interface DueWork {
  /** SQL that is true while there is some; an index has to answer it. */
  isDue: string;
  /** Wakes the poller. */
  wake: () => void;
}

/** Pause of a poller that is woken for its work: what it does beside that is housekeeping. */
export const IDLE_POLL_MS = 30_000;

/** SQL that says of each whether there is some, in their order. */
export const anyDue = (dueWork: DueWork[]): string => `array[${dueWork.map(({ isDue }) => isDue).join()}]::boolean[]`;

/** Wakes those for which `anyDue` has found something. */
export function wakeFound(dueWork: DueWork[], found: boolean[]): void {
  for (const [index, { wake }] of dueWork.entries()) if (found[index]) wake();
}

/** A clock that goes back by less is a difference between two servers, or its correction. */
const STEP_S = 1;

/**
 * Asks for due work again and again, in a service that has no other statement to ask with. `afterStepBack` is called
 * when the clock of the database was stepped back since the round before: what was to be done by that clock lies too
 * far ahead.
 */
export function createDueWorkPoller({
  db,
  logger,
  intervalMs,
  dueWork,
  afterStepBack,
}: {
  db: Knex;
  logger: Logger;
  intervalMs: number;
  dueWork: DueWork[];
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
        `select ${anyDue(dueWork)} as found, extract(epoch from now())::double precision as "nowS"`,
      );
      const [{ found, nowS }] = rows;
      wakeFound(dueWork, found);
      // A failure is tried again in the next round.
      if (nowS < lastS - STEP_S) await afterStepBack?.();
      lastS = nowS;
      return 0;
    },
  });
}
