import type { Knex } from 'knex';
import { createWakeUp } from '@vision/shared/async/wake-up';
import type { WakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import { findWatchedTasks } from '../../db/task-views.ts';
import type { WatchedTask } from '../../domain/task-view.ts';

/** A reader that waits for frames of one task. */
export interface Following {
  /** Resolves when the task has changed since it was last read, after `ms` at the latest. For one waiter at a time. */
  wait: (ms: number) => Promise<void>;
  /** Ends a pending wait. */
  wake: () => void;
  /** The task when it was last read: undefined before the first read, `gone` for an unknown task. */
  task: () => WatchedTask | 'gone' | undefined;
  end: () => void;
}

/** Wakes readers of this process when frames of their tasks were stored, or a task has ended. */
export interface TaskWatch {
  follow: (taskId: string) => Following;
  start: () => void;
  stop: () => Promise<void>;
}

export interface TaskWatchOptions {
  db: Knex;
  logger: Logger;
  endPatienceMs: number;
}

const INTERVAL_MS = 150;

interface Watched {
  wakeUps: Set<WakeUp>;
  task: WatchedTask | 'gone' | undefined;
}

/**
 * One statement reads the tasks of all readers; none is sent without readers. PostgreSQL notifications are not used: a
 * notification inside the transaction that stores frames would serialise all such transactions.
 */
export function createTaskWatch({ db, logger, endPatienceMs }: TaskWatchOptions): TaskWatch {
  const watched = new Map<string, Watched>();
  const read = async () => {
    if (watched.size === 0) return 0;
    const asked = [...watched];
    const found = await findWatchedTasks(db, { taskIds: asked.map(([taskId]) => taskId), endPatienceMs });
    for (const [taskId, entry] of asked) update(entry, found.get(taskId) ?? 'gone');
    return 0;
  };
  const poller = createPoller({ name: 'task-watch', intervalMs: INTERVAL_MS, run: read, logger, maxBackoffMs: 2000 });
  return {
    follow: (taskId) => {
      const wakeUp = createWakeUp();
      const entry = watched.get(taskId) ?? { wakeUps: new Set(), task: undefined };
      watched.set(taskId, entry);
      entry.wakeUps.add(wakeUp);
      // The reader may have read the task before this state was read, and nothing else wakes it for this state.
      if (entry.task !== undefined) wakeUp.wake();
      return {
        wait: wakeUp.wait,
        wake: wakeUp.wake,
        task: () => entry.task,
        end: () => {
          entry.wakeUps.delete(wakeUp);
          if (entry.wakeUps.size === 0) watched.delete(taskId);
        },
      };
    },
    start: poller.start,
    stop: poller.stop,
  };
}

function update(entry: Watched, task: WatchedTask | 'gone'): void {
  const isSame = JSON.stringify(entry.task) === JSON.stringify(task);
  entry.task = task;
  if (!isSame) for (const wakeUp of entry.wakeUps) wakeUp.wake();
}
