import { expect, test } from '@jest/globals';
import { services } from '../world/replicas.ts';
import { stepsOf } from '../world/steps.ts';
import { ways } from './process-faults.ts';

/** `a\.(b|c)` has the alternatives `a\.b` and `a\.c`. */
function alternativesOf({ source }: RegExp): string[] {
  const [, head = '', names] = /^(.*)\((.*)\)$/.exec(source) ?? [];
  return names === undefined ? [source] : names.split('|').map((name) => head + name);
}

// Without its way a create request seldom gets to a step, so a fault at a renamed step would never strike.
test('each way to a step leads to steps that the sources have', () => {
  const steps = services.flatMap(stepsOf);
  const patterns = ways.flatMap(({ leadsTo }) => alternativesOf(leadsTo));
  expect(patterns.filter((pattern) => !steps.some((step) => new RegExp(pattern).test(step)))).toEqual([]);
});

test('each way is the first that leads to one of the steps', () => {
  const steps = services.flatMap(stepsOf);
  const taken = new Set(steps.map((step) => ways.find(({ leadsTo }) => leadsTo.test(step))));
  expect(ways.filter((way) => !taken.has(way))).toEqual([]);
});
