import { expect, test } from '@jest/globals';
import { summaryFaults } from './summaries.ts';

const faultsOf = (summary: string) => summaryFaults([{ operation: 'getTask', summary }]);

test('accepts a summary that begins with a verb in the third person', () => {
  expect(faultsOf('Returns a task')).toEqual([]);
});

test('refuses an imperative and a noun at the start of a summary', () => {
  expect(faultsOf('Return a task')).toHaveLength(1);
  expect(faultsOf('Tasks of all subjects')).toEqual([
    'getTask: "Tasks of all subjects" does not begin with a verb of scripts/docs/summaries.ts',
  ]);
});
