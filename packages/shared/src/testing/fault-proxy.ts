import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/**
 * What the proxy does to traffic from now on. `cut_after` and the lost commits apply to the connections that are
 * open or come while they hold; everything else applies to all.
 */
export type Toxic =
  | { kind: 'none' }
  /** Every chunk, in both directions, arrives this much later (plus up to the jitter). */
  | { kind: 'latency'; ms: number; jitterMs: number }
  /** Open connections are reset; new ones too. */
  | { kind: 'reset' }
  /** Bytes are accepted and never arrive; connections stay open. */
  | { kind: 'black_hole' }
  /** Requests arrive and take effect; no reply comes back. */
  | { kind: 'deaf' }
  /**
   * Connections that are open now never carry a byte again and are never reset, for the rest of the test: their peer
   * has vanished. New ones work. `serverNoticesMs`: the store's end is closed after this long, as its kernel's
   * keepalive would do, whose probes this proxy always answers.
   */
  | { kind: 'dead'; serverNoticesMs?: number }
  /** New connections are refused at once, as by a process that is not there. */
  | { kind: 'refuse' }
  /** After this many bytes of a connection, its requests are accepted and never arrive; connections stay open. */
  | { kind: 'stall_after'; bytes: number }
  /** The reply is cut after this many bytes and the connection is reset. */
  | { kind: 'cut_after'; bytes: number }
  /**
   * PostgreSQL: the commit reaches the server, its reply never the client; the connection is reset. `mentioning`: only
   * commits of transactions whose statements or values contain this text.
   */
  | { kind: 'lose_commit_reply'; probability: number; mentioning?: string }
  /** PostgreSQL: the commit never reaches the server, so the transaction is rolled back; the connection is reset. */
  | { kind: 'lose_commit'; probability: number; mentioning?: string };

/** All clients of a store are affected, or only the client of this proxy; faults of the one client take precedence. */
export type Scope = 'store' | 'client';

export interface FaultProxy {
  port: number;
  set: (toxic: Toxic, scope?: Scope) => void;
  /** Number of times a toxic affected a connection: a run in which this stays 0 proves nothing. */
  hits: () => number;
  close: () => Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
  replied: number;
  asked: number;
  /** The current transaction has sent the text that `lose_commit_reply` matches. */
  mentioned: boolean;
  isDead: boolean;
}

/** Current faults, and how often they affected a connection. */
interface Faults {
  toxics: Record<Scope, Toxic>;
  hits: number;
  random: () => number;
}

interface Target {
  host: string;
  port: number;
}

/**
 * A TCP proxy on a free port of the loopback interface in front of `target`, with faults on demand. A target that is a
 * function is called for each connection: the server may move.
 */
export async function startFaultProxy(
  target: Target | (() => Target),
  random: () => number = Math.random,
): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  const faults: Faults = { toxics: { client: { kind: 'none' }, store: { kind: 'none' } }, hits: 0, random };
  const listener = createServer((client) => {
    const { kind } = toxicOf(faults);
    if (kind === 'refuse' || kind === 'reset') {
      faults.hits += 1;
      client.resetAndDestroy();
      return;
    }
    const server = connect(typeof target === 'function' ? target() : target);
    const pair: Pair = { client, server, replied: 0, asked: 0, mentioned: false, isDead: false };
    pairs.add(pair);
    const over = () => pairs.delete(pair);
    const isDead = () => pair.isDead;
    forward(client, server, {
      delayOf: (chunk) => delayOf(faults, pair, { chunk, direction: 'request' }),
      over,
      isDead,
    });
    forward(server, client, { delayOf: (chunk) => delayOf(faults, pair, { chunk, direction: 'reply' }), over, isDead });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    hits: () => faults.hits,
    set: (next, scope = 'client') => {
      const before = toxicOf(faults).kind;
      faults.toxics[scope] = next;
      const toxic = toxicOf(faults);
      const after = toxic.kind;
      if (toxic.kind === 'dead') for (const pair of pairs) die(pair, toxic.serverNoticesMs);
      // Bytes that were swallowed are lost, so their connections cannot be used again.
      if ((isSwallowing(before) && after !== before) || after === 'reset' || after === 'refuse') {
        for (const pair of pairs) if (!pair.isDead) cut(faults, pair);
      }
    },
    close: () => {
      for (const { client, server } of pairs) {
        client.destroy();
        server.destroy();
      }
      return closed(listener);
    },
  };
}

const toxicOf = ({ toxics }: Faults) => (toxics.client.kind === 'none' ? toxics.store : toxics.client);
const isSwallowing = (kind: Toxic['kind']) => ['black_hole', 'deaf', 'stall_after'].includes(kind);

/** Milliseconds to hold the chunk back, or 'drop' to swallow it. */
function delayOf(
  faults: Faults,
  pair: Pair,
  { chunk, direction }: { chunk: Buffer; direction: 'request' | 'reply' },
): number | 'drop' {
  const { random } = faults;
  const toxic = toxicOf(faults);
  if (pair.isDead) {
    faults.hits += 1;
    return 'drop';
  }
  switch (toxic.kind) {
    case 'latency':
      faults.hits += 1;
      return toxic.ms + random() * toxic.jitterMs;
    case 'deaf':
      if (direction === 'request') return 0;
      faults.hits += 1;
      return 'drop';
    case 'black_hole':
      faults.hits += 1;
      return 'drop';
    case 'stall_after':
      if (direction === 'reply') return 0;
      pair.asked += chunk.length;
      if (pair.asked <= toxic.bytes) return 0;
      faults.hits += 1;
      return 'drop';
    case 'cut_after':
      if (direction === 'request') return 0;
      pair.replied += chunk.length;
      return pair.replied > toxic.bytes ? cut(faults, pair) : 0;
    case 'lose_commit_reply':
    case 'lose_commit':
      if (direction === 'request') {
        // Earlier statements outside of any transaction are not part of this one.
        if (chunk.includes('BEGIN')) pair.mentioned = false;
        pair.mentioned ||= chunk.includes(toxic.mentioning ?? '');
      }
      if (!isCommit(chunk, toxic.kind === 'lose_commit' ? 'request' : 'reply', direction)) return 0;
      if (pair.mentioned && random() < toxic.probability) return cut(faults, pair);
      pair.mentioned = false;
      return 0;
    case 'none':
    case 'dead':
    case 'reset':
    case 'refuse':
      return 0;
  }
}

function cut(faults: Faults, pair: Pair): 'drop' {
  faults.hits += 1;
  pair.client.resetAndDestroy();
  pair.server.destroy();
  return 'drop';
}

function die(pair: Pair, serverNoticesMs: number | undefined): void {
  pair.isDead = true;
  if (serverNoticesMs !== undefined) setTimeout(() => pair.server.destroy(), serverNoticesMs).unref();
}

interface Forwarding {
  delayOf: (chunk: Buffer) => number | 'drop';
  over: () => void;
  /** Whether the end of one side is hidden from the other. */
  isDead: () => boolean;
}

function forward(from: Socket, to: Socket, { delayOf: delayOfChunk, over, isDead }: Forwarding): void {
  let held = Promise.resolve();
  from.setNoDelay(true).on('data', (chunk) => {
    const verdict = delayOfChunk(chunk);
    if (verdict === 'drop') return;
    from.pause();
    held = held
      .then(() => delay(verdict))
      .then(() => {
        if (!to.destroyed && !to.write(chunk)) to.once('drain', () => from.resume());
        else from.resume();
      });
  });
  const end = () => {
    if (isDead()) return;
    over();
    void held.then(() => to.destroy());
  };
  from
    .on('end', () => void held.then(() => (isDead() ? undefined : to.end())))
    .on('error', end)
    .on('close', end);
}

/** The statement COMMIT, or CommandComplete with that tag, somewhere in what is sent. */
function isCommit(chunk: Buffer, wanted: 'request' | 'reply', direction: 'request' | 'reply'): boolean {
  return direction === wanted && chunk.includes(wanted === 'request' ? 'COMMIT;' : 'COMMIT\0');
}

function delay(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
