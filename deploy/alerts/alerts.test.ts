import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { root } from '../local/settings.ts';
import { alertRules } from './alert-rules.ts';
import { cases } from './cases.ts';

const manual = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const rules = alertRules();

describe.each(rules)('$alert', ({ alert, labels, annotations }) => {
  test('leads to a heading of the operations manual that says what to do', () => {
    expect(sections().get(annotations.runbook)).toMatch(/\*\*You do/);
  });

  test('says who is needed: critical at once, warning today', () => {
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(manual).toContain(`\`${alert}\``);
  });

  test('has series that fire it and series that must not', () => {
    expect(Object.keys(cases[alert]?.fires.when ?? {})).not.toEqual([]);
    expect(Object.keys(cases[alert]?.stays ?? {})).not.toEqual([]);
  });
});

test('every case belongs to an alert, and no two alerts have one name', () => {
  expect(Object.keys(cases).sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

/** What stands below each heading, by the anchor that GitHub makes of it. */
function sections(): Map<string, string> {
  const parts = manual.split(/^#+ (.+)$/m).slice(1);
  const entries = parts.flatMap((heading, index) =>
    index % 2 === 0 ? [[anchorOf(heading), parts[index + 1] ?? ''] as const] : [],
  );
  return new Map(entries);
}

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
