import { expect } from '@jest/globals';
import type { TrackedObject } from '@vision/contracts/detection';
import { until } from '@vision/shared/testing/until';
import { frame, newTaskId, snapshot } from './support.ts';
import type { TestResults } from './support.ts';

export interface FramePage {
  items: {
    frame_id: string;
    frame_time_ms: number;
    image: { width: number; height: number };
    objects: TrackedObject[];
    objects_total?: number;
  }[];
  next_cursor: string;
  resume_cursor: string;
}

/** The forms in which frames are stored; responses do not differ. */
export const forms = [
  { form: 'hot segments', settings: {} },
  {
    form: 'segments in the object store',
    settings: { SEGMENT_YOUNG_MS: '0', SEGMENT_INTERVAL_MS: '20' },
  },
];

export interface FramePages {
  /** Publishes, and waits until the frames are stored in this form. */
  deliver: TestResults['deliver'];
  pathOf: (taskId: string, query?: Query) => string;
  page: (taskId: string, query?: Query) => Promise<FramePage>;
  seqs: (page: FramePage) => number[];
  /** Creates a task of `subject-a` with this number of frames. */
  newTask: (frames: number, facts?: Parameters<typeof snapshot>[2]) => Promise<string>;
}

type Query = Record<string, string | number>;

/** Stores frames in one form and reads pages of them, as a caller does. */
export function framePages(form: string, running: () => TestResults): FramePages {
  const deliver: TestResults['deliver'] = async (events) => {
    const outcomes = await running().deliver(events);
    if (form !== 'segments in the object store') return outcomes;
    const { db } = running().database;
    await until(async () => (await db('segments').whereNotNull('body')).length === 0);
    return outcomes;
  };
  const pathOf = (taskId: string, query: Query = {}) => {
    const entries = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
    return `/v1/vision/tasks/${taskId}/results?${new URLSearchParams(entries).toString()}`;
  };
  return {
    deliver,
    pathOf,
    page: async (taskId, query) => {
      const answer = await running().get(pathOf(taskId, query));
      expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
        status: 200,
        type: 'application/json; charset=utf-8',
      });
      return (await answer.json()) as FramePage;
    },
    seqs: ({ items }) => items.map(({ frame_id: id }) => Number(id.slice(37))),
    newTask: async (frames, facts) => {
      const taskId = newTaskId();
      await running().tell(snapshot(taskId, 'subject-a', facts));
      if (frames > 0) await deliver(Array.from({ length: frames }, (_, seq) => frame(taskId, seq)));
      return taskId;
    },
  };
}
