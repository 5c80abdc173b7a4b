import { expect, test } from '@jest/globals';
import { createRuleCache } from './rule-cache.ts';

const cacheOf = (tasks: number, rules: number) => {
  const cache = createRuleCache<{ rules: number }>((value) => value.rules);
  for (let task = 0; task < tasks; task += 1) {
    cache.get('first');
    cache.set(task === 0 ? 'first' : `task-${task}`, { rules });
  }
  const isKnown = (task: number) => cache.get(task === 0 ? 'first' : `task-${task}`) !== undefined;
  return Array.from({ length: tasks }, (_, task) => isKnown(task));
};

test('ten thousand tasks of a few rules are all remembered', () => {
  expect(cacheOf(10_000, 4)).not.toContain(false);
});

test('of tasks with many rules few are remembered, those that are asked for', () => {
  const known = cacheOf(1_000, 200);
  expect(known.filter(Boolean).length).toBeLessThan(250);
  expect([known[0], known[1], known[999]]).toEqual([true, false, true]);
});
