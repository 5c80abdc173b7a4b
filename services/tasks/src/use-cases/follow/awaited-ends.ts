import type { Verdict } from '../../domain/job-progress.ts';
import type { Task } from '../../domain/task.ts';

/** A task whose job has ended, and the frames that must be readable before the task may end. */
export interface AwaitedEnd {
  task: Task;
  verdict: Extract<Verdict, { do: 'await_frames' }>;
}

/** Queue of such tasks, so that no call to results delays a round of the reconciler. */
export interface AwaitedEnds {
  /** Adds a task; replaces an earlier entry of it. */
  add: (end: AwaitedEnd) => void;
  /** Removes and returns the tasks that have waited longest. */
  take: (limit: number) => AwaitedEnd[];
}

/** In memory of this process only: the reconciler that next claims a task adds it again. */
export function createAwaitedEnds(): AwaitedEnds {
  const ends = new Map<string, AwaitedEnd>();
  return {
    add: (end) => void ends.set(end.task.taskId, end),
    take: (limit) => {
      const taken = [...ends.values()].slice(0, limit);
      for (const { task } of taken) ends.delete(task.taskId);
      return taken;
    },
  };
}
