import type { Knex } from 'knex';
import { openSession, tryLock } from '@vision/shared/db/session';
import type { DbSession } from '@vision/shared/db/session';
import type { Logger } from '@vision/shared/logger';

export interface Leadership {
  /** The session that holds the lock; undefined while another relay does. */
  session: () => Promise<DbSession | undefined>;
  isHeld: () => boolean;
  /** Tells the relay that publishes, in another process, that events were stored. */
  tellLeader: () => void;
  /** Lets a relay that stands by take over at once. */
  release: () => Promise<void>;
}

export interface LeadershipOptions {
  db: Knex;
  logger: Logger;
  /** There may be something to do: events were stored elsewhere, or the relay that published has gone. */
  wake: () => void;
}

/** The relay that publishes hears of events on the one, those that stand by of its end on the other. */
const EVENTS = 'outbox_events';
const VACANT = 'outbox_vacant';

/** One session for the lock, for all statements of a relay and for what relays tell each other. */
export function createLeadership({ db, logger, wake }: LeadershipOptions): Leadership {
  let session: DbSession | undefined;
  let isHeld = false;
  let isTelling = false;
  let isOwed = false;

  const tellLeader = () => {
    isOwed = true;
    void tell();
  };
  // One at a time: an event stored while one is on its way causes another.
  const tell = async () => {
    if (!isOwed || isHeld || isTelling || !session?.isOpen()) return;
    isTelling = true;
    isOwed = false;
    // A notice that is lost costs time only: the relay looks by itself.
    await session.query(`notify ${EVENTS}`).catch(() => undefined);
    isTelling = false;
    await tell();
  };
  const open = async (): Promise<DbSession> => {
    isHeld = false;
    const opened = await openSession(db, wake);
    session = opened;
    // A mark that is lost with the server means that an event is published again, as after any failure.
    await opened.query(`set synchronous_commit = off; listen ${VACANT}`);
    return opened;
  };
  return {
    session: async () => {
      const current = session?.isOpen() ? session : await open();
      if (isHeld) return current;
      isHeld = await tryLock(current, 'outbox-relay');
      if (!isHeld) {
        await tell();
        return undefined;
      }
      logger.info('this process publishes the outbox');
      await current.query(`unlisten ${VACANT}; listen ${EVENTS}`);
      return current;
    },
    isHeld: () => isHeld && session?.isOpen() === true,
    tellLeader,
    release: async () => {
      const wasHeld = isHeld;
      isHeld = false;
      if (wasHeld && session?.isOpen())
        await session.query(`select pg_advisory_unlock_all(); notify ${VACANT}`).catch(() => undefined);
      await session?.close();
    },
  };
}
