import type { Verdict } from '../../domain/job-progress.ts';
import type { Task } from '../../domain/task.ts';

/** A task whose job has ended, and what has to be readable before the task may end too. */
export interface AwaitedEnd {
  task: Task;
  verdict: Extract<Verdict, { do: 'await_frames' }>;
}

/** Where the reconciler leaves such tasks, so that no call to results holds up its rounds. */
export interface AwaitedEnds {
  /** What is known of the task replaces what was known before. */
  add: (end: AwaitedEnd) => void;
  /** Takes out those that wait longest. */
  take: (limit: number) => AwaitedEnd[];
}

/** Lives in this process only: the reconciler that gets a task next adds it again. */
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
