import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/**
 * What the proxy does to traffic from now on. `cut_after` and `lose_commit_reply` apply to the connections that are
 * open or come while they hold; everything else applies to all.
 */
export type Toxic =
  | { kind: 'none' }
  /** Every chunk, in both directions, arrives this much later (plus up to the jitter). */
  | { kind: 'latency'; ms: number; jitterMs: number }
  /** Open connections are reset; new ones too. */
  | { kind: 'reset' }
  /** Bytes are taken and never arrive; connections stay open. */
  | { kind: 'black_hole' }
  /** New connections are refused at once, as by a process that is not there. */
  | { kind: 'refuse' }
  /** The reply is cut after this many bytes and the connection is reset. */
  | { kind: 'cut_after'; bytes: number }
  /**
   * PostgreSQL: the commit reaches the server, its reply never the client; the connection is reset. `mentioning`: only
   * commits of transactions whose statements or values contain this text.
   */
  | { kind: 'lose_commit_reply'; probability: number; mentioning?: string };

export interface FaultProxy {
  port: number;
  set: (toxic: Toxic) => void;
  /** Times a toxic touched a connection: a run in which this stays 0 has shown nothing. */
  hits: () => number;
  close: () => Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
  replied: number;
  /** The transaction under way has sent the text that `lose_commit_reply` looks for. */
  mentioned: boolean;
}

/** What holds now, and how often it touched a connection. */
interface Faults {
  toxic: Toxic;
  hits: number;
  random: () => number;
}

/** A TCP proxy on a free port of the loopback interface in front of `target`, with faults on demand. */
export async function startFaultProxy(
  target: { host: string; port: number },
  random: () => number = Math.random,
): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  const faults: Faults = { toxic: { kind: 'none' }, hits: 0, random };
  const listener = createServer((client) => {
    if (faults.toxic.kind === 'refuse' || faults.toxic.kind === 'reset') {
      faults.hits += 1;
      client.resetAndDestroy();
      return;
    }
    const server = connect(target);
    const pair: Pair = { client, server, replied: 0, mentioned: false };
    pairs.add(pair);
    const over = () => pairs.delete(pair);
    forward(client, server, { judge: (chunk) => judge(faults, pair, { chunk, direction: 'request' }), over });
    forward(server, client, { judge: (chunk) => judge(faults, pair, { chunk, direction: 'reply' }), over });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    hits: () => faults.hits,
    set: (next) => {
      // Bytes that were swallowed are lost, so their connections cannot be used again.
      if (faults.toxic.kind === 'black_hole' || next.kind === 'reset' || next.kind === 'refuse') {
        for (const pair of pairs) cut(faults, pair);
      }
      faults.toxic = next;
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

/** Milliseconds to hold the chunk back, or 'drop' to swallow it. */
function judge(
  faults: Faults,
  pair: Pair,
  { chunk, direction }: { chunk: Buffer; direction: 'request' | 'reply' },
): number | 'drop' {
  const { toxic, random } = faults;
  switch (toxic.kind) {
    case 'latency':
      faults.hits += 1;
      return toxic.ms + random() * toxic.jitterMs;
    case 'black_hole':
      faults.hits += 1;
      return 'drop';
    case 'cut_after':
      if (direction === 'request') return 0;
      pair.replied += chunk.length;
      return pair.replied > toxic.bytes ? cut(faults, pair) : 0;
    case 'lose_commit_reply':
      if (direction === 'request') pair.mentioned ||= chunk.includes(toxic.mentioning ?? '');
      if (direction === 'request' || !isCommitReply(chunk)) return 0;
      if (pair.mentioned && random() < toxic.probability) return cut(faults, pair);
      pair.mentioned = false;
      return 0;
    case 'none':
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

function forward(
  from: Socket,
  to: Socket,
  { judge: judgeChunk, over }: { judge: (chunk: Buffer) => number | 'drop'; over: () => void },
): void {
  let held = Promise.resolve();
  from.on('data', (chunk) => {
    const verdict = judgeChunk(chunk);
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
    over();
    void held.then(() => to.destroy());
  };
  from
    .on('end', () => void held.then(() => to.end()))
    .on('error', end)
    .on('close', end);
}

/** CommandComplete with the tag COMMIT, somewhere in what the server sends. */
function isCommitReply(chunk: Buffer): boolean {
  return chunk.includes('COMMIT\0');
}

function delay(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
