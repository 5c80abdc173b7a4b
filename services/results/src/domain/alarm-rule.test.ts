import { expect, test } from '@jest/globals';
import { ruleWhen } from '@vision/contracts/alarm-rules';
import type { RuleScope } from '@vision/contracts/alarm-rules';
import { ruleSetOf, rulesFor } from './alarm-rule.ts';

const taskId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';

const stored = (id: string, version: number, scope?: RuleScope) => ({
  rule: {
    subject: 'acme',
    rule_id: id,
    version,
    deleted: false,
    enabled: true,
    scope,
    when: ruleWhen.parse({ kind: 'task_ended' }),
    min_interval_ms: 0,
    updated_at: '2026-03-15T08:30:00.000Z',
  },
  storedMs: 0,
});

test('a rule applies to the tasks that one of its lists names, or to all', () => {
  const rules = [
    stored('named', 1, { client_refs: ['gate'] }),
    stored('listed', 1, { client_refs: ['roof'], task_ids: [taskId] }),
    stored('elsewhere', 1, { task_ids: ['019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c11'] }),
    stored('all', 1),
  ];
  const namesFor = (clientRef: string | null) => rulesFor(rules, { taskId, clientRef }).map(({ id }) => id);
  expect(namesFor('gate')).toEqual(['all', 'listed', 'named']);
  expect(namesFor(null)).toEqual(['all', 'listed']);
});

test('the number of a set of rules changes with each version, and is 0 for none', () => {
  const task = { taskId, clientRef: null };
  const setOf = (version: number) => ruleSetOf(rulesFor([stored('a', 1), stored('b', version)], task));
  expect(setOf(1)).toBe(setOf(1));
  expect(setOf(2)).not.toBe(setOf(1));
  expect(setOf(1)).toBeGreaterThan(0);
  expect(Number.isSafeInteger(setOf(1))).toBe(true);
  expect(ruleSetOf([])).toBe(0);
});
