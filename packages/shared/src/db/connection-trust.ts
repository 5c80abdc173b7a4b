import { DatabaseError } from 'pg';

/** The last state of one connection of a pool. */
interface Known {
  openedAt: number;
  answeredAt: number;
  /** When the statement was sent that is not answered yet. */
  sentAt?: number | undefined;
  /** Why it is not used again. */
  failure?: Error;
}

/**
 * Decides which connections of one pool may be used. A peer can vanish without a reset, and a connection can lead to a
 * server that has become a standby: both look open, and a pool would hand them out again and again.
 */
export interface ConnectionTrust {
  /** @throws Error with SQLSTATE 08001 while the last connections that were opened turned out to be useless. */
  checkMayOpen: () => void;
  /** Takes in a new connection that has shown that it may write. */
  noteOpened: (connection: object) => void;
  /** A new connection led to a server that takes no writes, or did not answer. */
  noteUseless: () => void;
  /** A statement is sent on it. */
  noteSent: (connection: object) => void;
  noteAnswer: (connection: object) => void;
  /** Looks at what a statement failed with, which was sent at `sentAt` (`performance.now()`). */
  noteFailure: (connection: object, error: unknown, sentAt: number) => void;
  /** Why no statement may be sent on it any more; undefined for a connection that may be used. */
  failureOf: (connection: object) => Error | undefined;
  /** Whether a free connection may be handed out. */
  isTrusted: (connection: object) => boolean;
}

/** In so long a process opens no more useless connections than its pool has. */
const PERIOD_MS = 10_000;
/** Of PostgreSQL: the server takes no writes. */
const READ_ONLY = '25006';

/** So much later than the server should have ended a statement its answer is overdue. */
const OVERDUE_MS = 500;

interface TrustOptions {
  poolMax: number;
  /** After this the server ends a statement and says so; 0: never. */
  statementTimeoutMs: number;
  now?: () => number;
}

export function createConnectionTrust(options: TrustOptions): ConnectionTrust {
  const { poolMax, statementTimeoutMs, now = () => performance.now() } = options;
  const answerMs = statementTimeoutMs > 0 ? statementTimeoutMs : Infinity;
  const connections = new WeakMap<object, Known>();
  const waiting = new Set<Known>();
  let uselessAt: number[] = [];
  // Connections that answered last, or were opened, before these instants may have lost the same peer, or lead to the
  // same standby.
  let [answeredSince, openedSince] = [-Infinity, -Infinity];

  const noteAnswered = (known: Known) => {
    known.answeredAt = now();
    known.sentAt = undefined;
    waiting.delete(known);
  };
  /**
   * What answered before the lost statement was sent may have lost the same peer; so may what answered until the server
   * should have ended that statement, as a peer that was there then would have said so.
   */
  const noteSilence = (sentAt: number) => {
    const dueAt = sentAt + answerMs;
    answeredSince = Math.max(answeredSince, now() >= dueAt ? dueAt : sentAt);
  };
  const noteOverdue = () => {
    for (const { sentAt = Infinity } of waiting) if (now() >= sentAt + answerMs + OVERDUE_MS) noteSilence(sentAt);
  };

  return {
    checkMayOpen: () => {
      const isPaused = uselessAt.length === poolMax && now() - (uselessAt[0] ?? 0) < PERIOD_MS;
      if (isPaused) throw withState('08001', `the last ${poolMax} connections were read-only or did not answer`);
    },
    noteOpened: (connection) => {
      connections.set(connection, { openedAt: now(), answeredAt: now() });
    },
    noteUseless: () => {
      uselessAt = [...uselessAt, now()].slice(-poolMax);
    },
    noteSent: (connection) => {
      const known = connections.get(connection);
      if (!known) return;
      known.sentAt = now();
      waiting.add(known);
    },
    noteAnswer: (connection) => {
      const known = connections.get(connection);
      if (known) noteAnswered(known);
    },
    noteFailure: (connection, error, sentAt) => {
      const known = connections.get(connection);
      if (!known || known.failure) return;
      const state = stateOf(error);
      if (state !== undefined) noteAnswered(known);
      if (state !== undefined && state !== READ_ONLY) return;
      waiting.delete(known);
      known.failure = error instanceof Error ? error : new Error(String(error));
      if (state === READ_ONLY) openedSince = now();
      else noteSilence(sentAt);
    },
    failureOf: (connection) => connections.get(connection)?.failure,
    isTrusted: (connection) => {
      const known = connections.get(connection);
      if (!known) return true;
      noteOverdue();
      return !known.failure && known.answeredAt >= answeredSince && known.openedAt >= openedSince;
    },
  };
}

/** Marks a server that takes no writes; the code is the one of a refused write. */
export function readOnlyServer(): Error {
  return withState(READ_ONLY, 'the server is read-only: it is a standby, or about to become one');
}

/** SQLSTATE, when the server answered with an error. */
const stateOf = (error: unknown) => (error instanceof DatabaseError ? (error.code ?? '') : undefined);

const withState = (code: string, message: string) => Object.assign(new Error(message), { code });
