import type { Answer } from '../support/system.ts';
import type { Requests } from './requests.ts';

export type CursorOwner = 'tasks' | 'results';

/** A cursor that a caller was given, and what it led to then. */
export interface KeptCursor {
  owner: CursorOwner;
  /** Asks for its page. */
  ask: () => Promise<Answer>;
  /** The ids of that page; it was full, so it stays as it was. */
  ids: string[];
}

export interface KeptCursors {
  keep: (cursor: KeptCursor) => void;
  /** Asks once more for the page of any of them. */
  useAgain: () => Promise<void>;
  /** How many are there now, and how often one of them was used. */
  count: () => { kept: Record<CursorOwner, number>; used: number };
  /** Nobody uses those of this owner any more. */
  forget: (owner: CursorOwner) => void;
  /** One that was forgotten. */
  forgotten: (owner: CursorOwner) => (() => Promise<Answer>) | undefined;
}

/** Of each owner: enough for every restart to meet many that are older, few enough that each is used often. */
const MOST = 30;

export const idsOf = ({ body }: Answer): string[] =>
  (body['items'] as { frame_id?: string; task_id?: string }[]).map(
    ({ frame_id, task_id }) => frame_id ?? task_id ?? '',
  );

export function keepCursors(requests: Requests, random: () => number): KeptCursors {
  const kept: Record<CursorOwner, KeptCursor[]> = { tasks: [], results: [] };
  const gone: Partial<Record<CursorOwner, KeptCursor>> = {};
  let used = 0;
  return {
    keep: (cursor) => {
      const own = kept[cursor.owner];
      // The oldest stay: any other makes room.
      if (own.length >= MOST) own.splice(Math.floor(MOST / 2 + (random() * MOST) / 2), 1);
      own.push(cursor);
    },
    useAgain: async () => {
      const all = [...kept.tasks, ...kept.results];
      const cursor = all[Math.floor(random() * all.length)];
      if (!cursor) return;
      used += 1;
      const answer = await requests.ask(`page behind an old cursor of ${cursor.owner}`, cursor.ask);
      if (!answer) return;
      const [then, now] = [cursor.ids.join(), idsOf(answer).join()];
      if (then !== now) requests.fail(`a cursor of ${cursor.owner} led to ${then} and leads to ${now} now`);
    },
    count: () => ({ kept: { tasks: kept.tasks.length, results: kept.results.length }, used }),
    forget: (owner) => {
      const [first] = kept[owner];
      if (first) gone[owner] = first;
      kept[owner] = [];
    },
    forgotten: (owner) => gone[owner]?.ask,
  };
}
