import type { PoisonedTasks } from '@vision/contracts/status';
import type { AppError } from '@vision/contracts/errors';
import type { Logger } from '../logger.ts';
import { observe } from '../telemetry/instruments.ts';
import { taskLoopMetrics } from '../telemetry/shared-metrics.ts';
import type { TaskLoopName } from '../telemetry/shared-metrics.ts';
import { asOutage } from '../unavailable.ts';

/** A background loop that does one step for each of many tasks. A task whose step fails holds back no other. */
export interface TaskLoop {
  /**
   * Runs the step of one task and logs its failure. Never rejects.
   * @returns the outage that interrupted the step; undefined when it succeeded or failed for a reason of its own
   */
  attempt: (taskId: string, step: () => Promise<unknown>) => Promise<AppError | undefined>;
  /**
   * Runs the step of every task, one after the other.
   * @throws AppError of kind `unavailable` after the last task when an outage interrupted a step, so that the loop
   * backs off.
   */
  forEach: (
    taskIds: Iterable<string> | AsyncIterable<string>,
    step: (taskId: string) => Promise<unknown>,
  ) => Promise<void>;
  /** The same with all steps at once. */
  atOnce: (taskIds: readonly string[], step: (taskId: string) => Promise<unknown>) => Promise<void>;
}

export interface TaskLoops<Name extends TaskLoopName> {
  of: (name: Name) => TaskLoop;
  /** The loops that have poisoned tasks, and these tasks. */
  poisoned: () => PoisonedTasks[];
}

interface Failure {
  failures: number;
  lastMs: number;
  loggedMs: number;
}

/** After this long without a failure a task is with another replica, or gone; pauses between two steps are shorter. */
const FORGET_AFTER_MS = 20 * 60_000;
/** The error line of a task that keeps failing is repeated this often. */
const REPEAT_LOG_MS = 10 * 60_000;
const MAX_LISTED = 100;

/**
 * The loops of one process. A task is poisoned from a failure that is no outage until its step succeeds. The number of
 * poisoned tasks is a gauge; their ids are in the log and in the status of the process.
 */
export function createTaskLoops<const Name extends TaskLoopName>(
  logger: Logger,
  names: readonly Name[],
  now = () => performance.now(),
): TaskLoops<Name> {
  const failing = new Map(names.map((name) => [name, new Map<string, Failure>()]));
  const failingOf = (name: Name) => {
    const tasks = failing.get(name) ?? new Map<string, Failure>();
    for (const [taskId, { lastMs }] of tasks) if (now() - lastMs > FORGET_AFTER_MS) tasks.delete(taskId);
    return tasks;
  };
  observe(taskLoopMetrics.poisonedTasks, (tell) => {
    for (const name of names) tell(failingOf(name).size, { loop: name });
  });
  return {
    of: (name) => createLoop({ logger, name, now }, failingOf(name)),
    poisoned: () =>
      names.flatMap((name) => {
        const taskIds = [...failingOf(name).keys()];
        return taskIds.length === 0
          ? []
          : [{ loop: name, tasks: taskIds.length, task_ids: taskIds.slice(0, MAX_LISTED) }];
      }),
  };
}

interface LoopOptions {
  logger: Logger;
  name: TaskLoopName;
  now: () => number;
}

function createLoop({ logger, name: loop, now }: LoopOptions, failing: Map<string, Failure>): TaskLoop {
  const succeeded = (taskId: string) => {
    if (failing.delete(taskId)) logger.info({ task_id: taskId, loop }, 'the task passed a step that failed before');
  };
  const failed = (taskId: string, error: unknown) => {
    const { failures = 0, loggedMs = -Infinity } = failing.get(taskId) ?? {};
    const isDue = now() - loggedMs >= REPEAT_LOG_MS;
    failing.set(taskId, { failures: failures + 1, lastMs: now(), loggedMs: isDue ? now() : loggedMs });
    const facts = { err: error, task_id: taskId, loop, failures: failures + 1 };
    if (isDue) logger.error(facts, 'a background step failed for this task; other tasks continue');
  };
  const attempt: TaskLoop['attempt'] = async (taskId, step) => {
    try {
      await step();
      succeeded(taskId);
      return undefined;
    } catch (error) {
      const outage = asOutage(error);
      if (outage) logger.warn({ err: error, task_id: taskId, loop }, 'an outage interrupted the step of a task');
      else failed(taskId, error);
      return outage;
    }
  };
  return {
    attempt,
    forEach: async (taskIds, step) => {
      let outage: AppError | undefined;
      for await (const taskId of taskIds) {
        const interrupted = await attempt(taskId, () => step(taskId));
        outage ??= interrupted;
      }
      if (outage) throw outage;
    },
    atOnce: async (taskIds, step) => {
      const outages = await Promise.all(taskIds.map((taskId) => attempt(taskId, () => step(taskId))));
      for (const outage of outages) if (outage) throw outage;
    },
  };
}
