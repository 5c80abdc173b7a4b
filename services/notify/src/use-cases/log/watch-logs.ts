import type { Knex } from 'knex';
import { createWakeUp } from '@vision/shared/async/wake-up';
import type { WakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import { readHeads } from '../../db/event-log.ts';

/** A reader that waits for events of one subject. */
interface Following {
  /** Resolves when the log has grown since it was last read, after `ms` at the latest. For one waiter at a time. */
  wait: (ms: number) => Promise<void>;
  /** Ends a pending wait. */
  wake: () => void;
  end: () => void;
}

/** Wakes readers of this process when events of their subjects were logged. */
export interface LogWatch {
  follow: (subject: string) => Following;
  start: () => void;
  stop: () => Promise<void>;
}

const INTERVAL_MS = 250;

interface Watched {
  wakeUps: Set<WakeUp>;
  head: number | undefined;
}

/** One statement reads the logs of all readers; none is sent without readers. */
export function createLogWatch({ db, logger }: { db: Knex; logger: Logger }): LogWatch {
  const watched = new Map<string, Watched>();
  const read = async () => {
    if (watched.size === 0) return 0;
    const asked = [...watched];
    const heads = await readHeads(
      db,
      asked.map(([subject]) => subject),
    );
    for (const [subject, entry] of asked) update(entry, heads.get(subject) ?? 0);
    return 0;
  };
  const poller = createPoller({ name: 'log-watch', intervalMs: INTERVAL_MS, run: read, logger, maxBackoffMs: 2000 });
  return {
    follow: (subject) => {
      const wakeUp = createWakeUp();
      const entry = watched.get(subject) ?? { wakeUps: new Set(), head: undefined };
      watched.set(subject, entry);
      entry.wakeUps.add(wakeUp);
      return {
        wait: wakeUp.wait,
        wake: wakeUp.wake,
        end: () => {
          entry.wakeUps.delete(wakeUp);
          if (entry.wakeUps.size === 0) watched.delete(subject);
        },
      };
    },
    start: poller.start,
    stop: poller.stop,
  };
}

function update(entry: Watched, head: number): void {
  const isSame = entry.head === head;
  entry.head = head;
  if (!isSame) for (const wakeUp of entry.wakeUps) wakeUp.wake();
}
