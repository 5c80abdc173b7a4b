import { describe, expect, test } from '@jest/globals';
import { pageFaults, runbookFaults } from '../../scripts/docs/runbooks.ts';
import { root } from '../local/settings.ts';
import { alertRules } from './alert-rules.ts';
import { cases } from './cases.ts';

const rules = alertRules();
const WATCHDOG = 'VisionWatchdog';

describe.each(rules)('$alert', (rule) => {
  test('has a page with its name, its severity, the first command, what callers notice and the cases', () => {
    expect(pageFaults(root, rule)).toEqual([]);
  });

  test('is critical or a warning, but for the one that fires all the time', () => {
    expect(rule.alert === WATCHDOG ? ['none'] : ['critical', 'warning']).toContain(rule.labels.severity);
  });

  test('has series that fire it and series that must not', () => {
    if (rule.alert === WATCHDOG) return;
    expect(Object.keys(cases[rule.alert]?.fires.when ?? {})).not.toEqual([]);
    expect(Object.keys(cases[rule.alert]?.stays ?? {})).not.toEqual([]);
  });
});

test('every page of docs/runbooks belongs to an alert', () => {
  expect(runbookFaults(root)).toEqual([]);
});

test('every case belongs to an alert, and no two alerts have one name', () => {
  expect(Object.keys(cases).sort()).toEqual(rules.map(({ alert }) => alert).sort());
});
