import { LRUCache } from 'lru-cache';

/** Cache of tasks with rules, by their ids. */
export type RuleCache<T extends object> = Pick<LRUCache<string, T>, 'get' | 'delete'> & {
  set: (taskId: string, value: T) => void;
};

/**
 * Maximum number of rules of all cached tasks, each task counted as one more: 10,000 tasks with four rules. A rule
 * takes 1.7 KB prepared (2.7 with a region of 16 corners), 0.6 KB followed and 1.9 KB more while its alarm is open. The
 * tracks that the lines of a task follow have a limit of their own.
 */
const MOST_RULES = 50_000;
/** Share of new tasks that replace cached ones when the cache is full. */
const REPLACING = 1 / 20;

/**
 * Caches tasks by the number of their rules, which determine the memory. Streams are accessed cyclically: if each new
 * task replaced the least recently used one, every access would miss. So when the cache is full, most new tasks are not
 * cached, and the cached ones stay.
 */
export function createRuleCache<T extends object>(
  rulesOf: (value: T) => number,
  random: () => number = Math.random,
): RuleCache<T> {
  const sizeOf = (value: T) => 1 + rulesOf(value);
  const cache = new LRUCache<string, T>({ maxSize: MOST_RULES, sizeCalculation: sizeOf });
  return {
    get: (taskId) => cache.get(taskId),
    delete: (taskId) => cache.delete(taskId),
    set: (taskId, value) => {
      const hasRoom = cache.has(taskId) || cache.calculatedSize + sizeOf(value) <= MOST_RULES;
      if (hasRoom || random() < REPLACING) cache.set(taskId, value);
    },
  };
}
