import { until } from '@vision/shared/testing/until';
import type { Caller } from '../support/system.ts';
import type { ResultPage } from '../support/video.ts';
import type { Findings } from './findings.ts';

const PAGE = 4;
const HISTORY_PAGE = 3;

interface Frames {
  frames: string[];
  /** Where the last page that was read says to go on; empty at the end. */
  next: string;
  resume: string;
}

/** From the beginning or a cursor, to the end or for so many pages. */
interface From {
  cursor?: string;
  pages?: number;
}

/** Reads what a caller may read, page by page; every request counts. */
export interface Reader {
  /** Ids of the frames of a task. */
  pages: (what: string, taskId: string, from: From) => Promise<Frames>;
  /** Ids of tasks, the newest first. */
  history: (what: string, from: From) => Promise<{ ids: string[]; next: string }>;
  /** Waits until the task has this status; another end is a breach. */
  untilStatus: (what: string, taskId: string, wanted: string) => Promise<void>;
}

const ENDS = ['succeeded', 'failed', 'stopped', 'refunded'];

export function createReader(caller: Caller, { ask, same, breach }: Findings): Reader {
  return {
    pages: async (what, taskId, { cursor = '', pages = 1_000 }) => {
      const seen: Frames = { frames: [], next: cursor, resume: cursor };
      for (let page = 0; page < pages; page += 1) {
        const query = seen.next === '' ? '' : `&cursor=${seen.next}`;
        const path = `/v1/vision/tasks/${taskId}/results?limit=${PAGE}${query}`;
        const answer = await ask(`${what}, a page`, [200], () => caller.get(path));
        if (!answer) break;
        const { items, next_cursor: next, resume_cursor: resume } = answer.body as unknown as ResultPage;
        seen.frames.push(...items.map(({ frame_id: id }) => id));
        Object.assign(seen, { next, resume });
        if (next === '') break;
      }
      return seen;
    },
    history: async (what, { cursor = '', pages = 1_000 }) => {
      const seen = { ids: [] as string[], next: cursor };
      for (let page = 0; page < pages; page += 1) {
        const query = seen.next === '' ? '' : `&cursor=${seen.next}`;
        const path = `/v1/vision/tasks?limit=${HISTORY_PAGE}${query}`;
        const answer = await ask(`${what}, a page`, [200], () => caller.get(path));
        if (!answer) break;
        const { items, next_cursor: next } = answer.body as { items: { task_id: string }[]; next_cursor: string };
        seen.ids.push(...items.map(({ task_id: id }) => id));
        seen.next = next;
        if (next === '') break;
      }
      return seen;
    },
    untilStatus: async (what, taskId, wanted) => {
      let status = '';
      const hasEnded = async () => {
        const answer = await ask(`${what}, its task`, [200], () => caller.get(`/v1/vision/tasks/${taskId}`));
        status = String(answer?.body['status']);
        return ENDS.includes(status);
      };
      const ended = await until(hasEnded, { timeoutMs: 120_000, intervalMs: 250 }).catch(() => false);
      if (ended) same(`${what}, its end`, status, wanted);
      else breach(`${what}: its task is still ${status} after two minutes`);
    },
  };
}
