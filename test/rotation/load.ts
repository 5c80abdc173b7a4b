import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import { Caller, admin, system } from '../support/system.ts';
import type { Answer } from '../support/system.ts';
import type { Workload } from '../faults/workload.ts';
import { idsOf } from './kept-cursors.ts';
import type { CursorOwner, KeptCursors } from './kept-cursors.ts';
import type { Follower } from './follower.ts';
import type { Requests } from './requests.ts';

/** Clients that go on all the time, whatever is restarted. */
export interface Load {
  requests: Requests;
  cursors: KeptCursors;
  followers: readonly Follower[];
  start: () => void;
  stop: () => Promise<void>;
  /** Resolves when every client has done the whole of its round once more. */
  rounds: () => Promise<void>;
  /** The tokens that operators use from now on, in turn. */
  useAdminTokens: (tokens: readonly string[]) => void;
  /** Lets every reader go on by cursors that are made from now on. */
  renewCursors: (owner: CursorOwner) => Promise<void>;
  forgotten: KeptCursors['forgotten'];
}

/** One of the clients: what it does again and again, with a pause in between. */
interface Client {
  act: () => Promise<void>;
  pauseMs: number;
  rounds: number;
}

export interface LoadParts {
  workload: Workload;
  requests: Requests;
  cursors: KeptCursors;
  followers: readonly Follower[];
  random: () => number;
}

const ROUND_MS = 120_000;

export function createLoad(parts: LoadParts): Load {
  const { workload, requests, cursors, followers, random } = parts;
  const operators = createOperators(requests);
  const client = (pauseMs: number, act: () => Promise<void>): Client => ({ act, pauseMs, rounds: 0 });
  const clients = [
    ...[1, 2, 3].map(() => client(900, workload.act)),
    ...followers.map(({ act }) => client(400, act)),
    client(1_000, async () => followers[0]?.readFromStart()),
    client(1_000, () => walkTasks(parts)),
    client(250, cursors.useAgain),
    client(500, () => readUsage(parts)),
    client(700, operators.look),
    client(2_000, operators.makeKey),
  ];
  const over = new AbortController();
  const running: Promise<void>[] = [];
  const run = async (one: Client) => {
    while (!over.signal.aborted) {
      await one.act();
      one.rounds += 1;
      await delay((0.5 + random()) * one.pauseMs);
    }
  };
  const rounds = async () => {
    // The round under way began before; the one after it did not.
    const wanted = clients.map((one) => one.rounds + 2);
    await until(() => clients.every((one, index) => one.rounds >= (wanted[index] ?? 0)), { timeoutMs: ROUND_MS });
  };
  return {
    requests,
    cursors,
    followers,
    start: () => running.push(...clients.map(run)),
    stop: async () => {
      over.abort();
      await Promise.all(running);
    },
    rounds,
    useAdminTokens: operators.use,
    renewCursors: async (owner) => {
      // What a reader got while the new key went to the front may still be sealed with the old one.
      await rounds();
      cursors.forget(owner);
      await rounds();
    },
    forgotten: cursors.forgotten,
  };
}

const PAGE = 2;
const PAGES = 12;
/** Nearer to the top, a task that took long to be made may still come in between. */
const SETTLED_PAGES = 5;

/** From the newest task on, page by page. */
async function walkTasks({ workload, requests, cursors }: LoadParts): Promise<void> {
  const caller = workload.creates[0]?.caller;
  if (!caller) return;
  let cursor = '';
  for (let pages = 0; pages < PAGES; pages += 1) {
    const own = cursor;
    const ask = (): Promise<Answer> => caller.get(`/v1/vision/tasks?limit=${PAGE}${own && `&cursor=${own}`}`);
    const answer = await requests.ask('pages of tasks', ask);
    const ids = answer ? idsOf(answer) : [];
    if (!answer || ids.length < PAGE) return;
    if (pages >= SETTLED_PAGES) cursors.keep({ owner: 'tasks', ids, ask });
    cursor = String(answer.body['next_cursor']);
    if (cursor === '') return;
  }
}

async function readUsage({ workload, requests, random }: LoadParts): Promise<void> {
  const caller = workload.creates[Math.floor(random() * workload.creates.length)]?.caller;
  if (caller) await requests.ask('read usage', () => caller.get('/v1/vision/usage'));
}

function createOperators(requests: Requests) {
  let tokens: readonly string[] = [system.adminToken];
  let turn = 0;
  /** By the admin API, with the token whose turn it is. */
  const ask = (operation: string, method: string, path: string, body?: unknown) =>
    requests.ask(operation, () => {
      turn += 1;
      system.adminToken = tokens[turn % tokens.length] ?? '';
      return admin(method, path, body);
    });
  return {
    use: (next: readonly string[]) => {
      tokens = next;
    },
    look: async () => {
      await ask('admin: list tasks', 'GET', '/admin/v1/tasks?limit=5');
    },
    /** A key that was made a moment ago has to open every gateway. */
    makeKey: async () => {
      const made = await ask('admin: make a key', 'POST', '/admin/v1/keys', { name: 'rotation' });
      if (!made) return;
      const caller = new Caller(String(made.body['key']), String(made.body['subject']));
      // Over as many connections, so that both gateways are asked.
      for (let tries = 0; tries < 3; tries += 1) {
        const headers = { connection: 'close' };
        await requests.ask('use a new key', () => caller.send('GET', '/v1/vision/usage', { headers }));
      }
      await ask('admin: revoke a key', 'DELETE', `/admin/v1/keys/${String(made.body['key_id'])}`);
    },
  };
}
