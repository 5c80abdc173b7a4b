import { randomUUID } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import type { Answer, Caller } from '../support/system.ts';
import { taskIdOf } from '../faults/workload.ts';
import type { Create, Workload } from '../faults/workload.ts';
import { idsOf } from './kept-cursors.ts';
import type { KeptCursors } from './kept-cursors.ts';
import type { Requests } from './requests.ts';

/** A caller that follows a stream of its own from the first frame to the last, by the cursor of each page. */
export interface Follower {
  name: string;
  frames: () => number;
  /** The next page. */
  act: () => Promise<void>;
  /** Reads some pages from the beginning, and keeps their cursors. */
  readFromStart: () => Promise<void>;
  /** Reads the first page once more, when its frames are in the object store; returns what is wrong with it. */
  readStored: () => Promise<string[]>;
  /** Stops the stream and follows it to its end; returns what was read twice or never. */
  finish: (stored: () => Promise<number>) => Promise<string[]>;
  taskId: string;
  create: Create;
}

interface Parts {
  workload: Workload;
  requests: Requests;
  cursors: KeptCursors;
}

/** A page that is full now is the same later. */
const PAGE = 5;
const PAGES = 6;
const END_MS = 60_000;

export async function follow(
  { workload, requests, cursors }: Parts,
  caller: Caller,
  { kind, streamUrl }: Pick<Create, 'kind' | 'streamUrl'>,
): Promise<Follower> {
  const create: Create = { kind, key: randomUUID(), caller, answers: [], images: 1, streamUrl };
  await workload.repeat(create);
  const taskId = taskIdOf(create);
  if (taskId === undefined) throw new Error(`The ${kind} to follow was refused: ${create.answers[0]?.text ?? ''}`);
  const seen = new Set<string>();
  let cursor = '';
  let isOver = false;
  const page = (limit: number, from: string): Promise<Answer> =>
    caller.get(`/v1/vision/tasks/${taskId}/results?limit=${limit}${from && `&cursor=${from}`}`);
  const act = async () => {
    const answer = await requests.ask('frames that follow', () => page(100, cursor));
    if (!answer) return;
    for (const id of idsOf(answer)) {
      if (seen.has(id)) requests.fail(`frame ${id} was read twice`);
      seen.add(id);
    }
    cursor = String(answer.body['resume_cursor']);
    isOver = cursor === '';
  };
  return {
    name: kind,
    taskId,
    create,
    frames: () => seen.size,
    act: async () => {
      if (!isOver) await act();
    },
    readFromStart: async () => {
      let from = '';
      for (let pages = 0; pages < PAGES; pages += 1) {
        const own = from;
        const answer = await requests.ask('pages of frames', () => page(PAGE, own));
        const ids = answer ? idsOf(answer) : [];
        if (!answer || ids.length < PAGE) return;
        if (own !== '') cursors.keep({ owner: 'results', ids, ask: () => page(PAGE, own) });
        from = String(answer.body['next_cursor']);
        if (from === '') return;
      }
    },
    readStored: async () => {
      const answer = await page(PAGE, '');
      const isWhole = answer.status === 200 && idsOf(answer).length === PAGE;
      return isWhole ? [] : [`the first page of the ${kind} is ${answer.status} ${answer.text.slice(0, 200)}`];
    },
    finish: async (stored) => {
      await workload.stop(caller, taskId);
      const ended = async () => {
        await act();
        return isOver;
      };
      await until(ended, { timeoutMs: END_MS, intervalMs: 200 });
      const count = await stored();
      return count === seen.size ? [] : [`${kind} ${taskId}: ${count} frames are stored, ${seen.size} were read`];
    },
  };
}
