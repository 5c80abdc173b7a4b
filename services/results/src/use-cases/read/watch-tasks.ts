import type { Knex } from 'knex';
import { createBell } from '@vision/shared/async/bell';
import type { Bell } from '@vision/shared/async/bell';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import { findWatchedTasks } from '../../db/task-views.ts';
import type { WatchedTask } from '../../domain/task-view.ts';

/** A reader that waits for frames of one task. */
export interface Following {
  /** Resolves when the task has changed since it was read last, after `ms` at the latest. For one waiter at a time. */
  wait: (ms: number) => Promise<void>;
  /** Ends a wait under way. */
  wake: () => void;
  /** The task as it was read last: undefined before the first read, `gone` once no such task is known. */
  task: () => WatchedTask | 'gone' | undefined;
  end: () => void;
}

/** Tells readers of this process when frames of their tasks were stored, or a task has ended. */
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
  bells: Set<Bell>;
  task: WatchedTask | 'gone' | undefined;
}

/**
 * One statement reads the tasks of all readers; there is none while there are no readers. PostgreSQL notifies no
 * process instead: a notification inside the transaction that stores frames would serialise all of them.
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
      const bell = createBell();
      const entry = watched.get(taskId) ?? { bells: new Set(), task: undefined };
      watched.set(taskId, entry);
      entry.bells.add(bell);
      // The reader may have read the task before what is known here, and nothing rings for that again.
      if (entry.task !== undefined) bell.ring();
      return {
        wait: bell.wait,
        wake: bell.ring,
        task: () => entry.task,
        end: () => {
          entry.bells.delete(bell);
          if (entry.bells.size === 0) watched.delete(taskId);
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
  if (!isSame) for (const bell of entry.bells) bell.ring();
}
