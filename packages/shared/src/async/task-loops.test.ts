import { expect, test } from '@jest/globals';
import { fail } from '@vision/contracts/errors';
import type { Logger } from '../logger.ts';
import { testMetrics } from '../testing/metrics.ts';
import { createTaskLoops } from './task-loops.ts';

const metrics = testMetrics();
const MINUTE_MS = 60_000;

interface Line {
  level: string;
  task_id: string;
  failures?: number;
}

/** Loops whose steps fail as `faults` says, at a time that the test sets. */
function startLoops() {
  const lines: Line[] = [];
  const write = (level: string) => (facts: Omit<Line, 'level'>) => void lines.push({ ...facts, level });
  // Only the levels that loops write.
  const logger = { info: write('info'), warn: write('warn'), error: write('error') } as unknown as Logger;
  let nowMs = 0;
  const loops = createTaskLoops(logger, ['compaction', 'recovery'], () => nowMs);
  const faults = new Map<string, Error>();
  const done: string[] = [];
  const step = (taskId: string) => {
    const fault = faults.get(taskId);
    if (fault) return Promise.reject(fault);
    done.push(taskId);
    return Promise.resolve();
  };
  const run = () => loops.of('compaction').forEach(['a', 'b', 'c'], step);
  const gauge = (loop: string) => metrics.sumOf('vision.loop.poisoned_tasks', { loop });
  return { loops, faults, done, lines, run, gauge, passMs: (ms: number) => (nowMs += ms) };
}
const outage = () => fail.sysUnavailable('object_store_unavailable', new Error('connect ECONNREFUSED'));

test('every failure is logged with its task and holds back no other task', async () => {
  const { loops, faults, done, lines, run, gauge } = startLoops();
  faults.set('a', new Error('a is damaged')).set('c', new Error('c is damaged'));
  await run();
  expect(done).toEqual(['b']);
  expect(lines).toMatchObject([
    { level: 'error', task_id: 'a', loop: 'compaction', err: { message: 'a is damaged' } },
    { level: 'error', task_id: 'c', loop: 'compaction', err: { message: 'c is damaged' } },
  ]);
  expect(loops.poisoned()).toEqual([{ loop: 'compaction', tasks: 2, task_ids: ['a', 'c'] }]);
  expect([await gauge('compaction'), await gauge('recovery')]).toEqual([2, 0]);
});

test('a task whose step succeeds is poisoned no longer', async () => {
  const { loops, faults, lines, run, gauge } = startLoops();
  faults.set('b', new Error('damaged'));
  await run();
  faults.clear();
  await run();
  expect(lines.map(({ level, task_id }) => [level, task_id])).toEqual([
    ['error', 'b'],
    ['info', 'b'],
  ]);
  expect(loops.poisoned()).toEqual([]);
  expect(await gauge('compaction')).toBe(0);
});

test('an outage reaches the loop after every task had its turn, and poisons none', async () => {
  const { loops, faults, done, lines, run } = startLoops();
  faults.set('a', outage());
  await expect(run()).rejects.toMatchObject({ reason: 'object_store_unavailable' });
  expect(done).toEqual(['b', 'c']);
  expect(lines).toMatchObject([{ level: 'warn', task_id: 'a' }]);
  expect(loops.poisoned()).toEqual([]);
});

test('steps at once wait for none of the others, and an outage of one reaches the loop after all of them', async () => {
  const { loops, done } = startLoops();
  const { promise, resolve } = Promise.withResolvers<void>();
  const step = async (taskId: string) => {
    if (taskId === 'a') await promise;
    else resolve();
    if (taskId === 'b') throw outage();
    done.push(taskId);
  };
  await expect(loops.of('compaction').atOnce(['a', 'b', 'c'], step)).rejects.toMatchObject({
    reason: 'object_store_unavailable',
  });
  expect(done.sort()).toEqual(['a', 'c']);
});

test('a statement timeout and a refusal of the object store are faults of the task, and the loop goes on', async () => {
  const { loops, faults, done, lines, run } = startLoops();
  const coded = (code: string) => Object.assign(new Error('failed'), { code });
  faults.set('a', coded('57014')).set('b', fail.sysUnavailable('object_store_unavailable', coded('AccessDenied')));
  await run();
  expect(done).toEqual(['c']);
  expect(lines.map(({ level, task_id }) => [level, task_id])).toEqual([
    ['error', 'a'],
    ['error', 'b'],
  ]);
  expect(loops.poisoned()).toEqual([{ loop: 'compaction', tasks: 2, task_ids: ['a', 'b'] }]);
});

test('a task that keeps failing is logged every ten minutes with the number of its failures', async () => {
  const { faults, lines, run, passMs } = startLoops();
  faults.set('a', new Error('damaged'));
  for (let minute = 0; minute <= 10; minute += 1) {
    await run();
    passMs(MINUTE_MS);
  }
  expect(lines.map(({ failures }) => failures)).toEqual([1, 11]);
});

test('a task that this process did not try for a long time is forgotten', async () => {
  const { loops, faults, run, passMs } = startLoops();
  faults.set('a', new Error('damaged'));
  await run();
  passMs(20 * MINUTE_MS);
  expect(loops.poisoned()).toHaveLength(1);
  passMs(1);
  expect(loops.poisoned()).toEqual([]);
});
