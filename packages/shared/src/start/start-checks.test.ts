import { afterEach, expect, test } from '@jest/globals';
import { createLogger } from '../logger.ts';
import { until } from '../testing/until.ts';
import { away, wrong } from './fault.ts';
import type { Fault } from './fault.ts';
import { createStartChecks } from './start-checks.ts';
import type { StartCheck, StartChecks } from './start-checks.ts';

let lines: string[] = [];
let checks: StartChecks | undefined;
afterEach(async () => {
  await checks?.stop();
  lines = [];
});

const logger = createLogger('test', 'info', { write: (line) => lines.push(line) });

/** A check that is asked every 10 ms and gives these answers, the last of them from then on. */
function startWith(answers: (Fault | undefined)[], options: Partial<StartCheck> = {}): StartChecks {
  const ask = () => Promise.resolve(answers.length > 1 ? answers.shift() : answers[0]);
  checks = createStartChecks([{ name: 'bucket', ask, readyWhileAway: true, ...options }], logger, 10);
  return checks;
}
const told = (sentence: string) => until(() => lines.some((line) => line.includes(sentence)));

test('a process that is ready without a store stays ready when the store refuses it later, and says so', async () => {
  const { start, problems } = startWith([away('no answer'), wrong('the key is refused')]);
  await start();
  expect(problems()).toEqual([]);
  await told('the key is refused');
  expect(problems()).toEqual([]);
});

test('a process that a store refused first is not ready until the store takes it, also while the store is unavailable', async () => {
  const answers: (Fault | undefined)[] = [wrong('the key is refused'), away('no answer')];
  const { start, problems } = startWith(answers);
  await start();
  expect(problems()).toEqual(['the key is refused']);
  await told('no answer');
  expect(problems()).toEqual(['no answer']);
  answers[0] = undefined;
  await until(() => problems().length === 0);
});

test('a process that has nothing to do without a store is not ready while it is unavailable', async () => {
  const { start, problems } = startWith([away('no answer')], { readyWhileAway: false });
  await start();
  expect(problems()).toEqual(['no answer']);
});
