import { expect, test } from '@jest/globals';
import { createRuleCache } from './rule-cache.ts';

/** Gets each task in turn, and stores missing ones. @returns the number of hits in the last round */
function knownInTurns(tasks: number, rules: number): number {
  let drawn = 0;
  const cache = createRuleCache<{ rules: number }>(
    (value) => value.rules,
    () => ((drawn += 1) % 20) / 20,
  );
  let known = 0;
  for (let round = 0; round < 5; round += 1) {
    known = 0;
    for (let task = 0; task < tasks; task += 1) {
      if (cache.get(`task-${task}`)) known += 1;
      else cache.set(`task-${task}`, { rules });
    }
  }
  return known;
}

test('ten thousand tasks of a few rules are all cached', () => {
  expect(knownInTurns(10_000, 4)).toBe(10_000);
});

test('with more tasks than fit, most of the cached ones are found in their turn', () => {
  const known = knownInTurns(1_000, 200);
  expect(known).toBeGreaterThan(150);
  expect(known).toBeLessThan(250);
});

test('new tasks enter a full cache over time', () => {
  const cache = createRuleCache<{ rules: number }>(({ rules }) => rules);
  for (let task = 0; task < 250; task += 1) cache.set(`old-${task}`, { rules: 199 });
  let tries = 0;
  for (; cache.get('new') === undefined; tries += 1) cache.set('new', { rules: 199 });
  expect(tries).toBeGreaterThan(0);
  expect(cache.get('old-0')).toBeUndefined();
});
