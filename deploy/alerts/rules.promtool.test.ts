import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { root } from '../local/settings.ts';
import { alertRules, fileOfAlert, rulesFile } from './alert-rules.ts';
import { cases } from './cases.ts';
import { promtool, promtoolOn } from './promtool.ts';
import type { Series } from './series.ts';

const rules = alertRules();

test('promtool takes the rules, and the configuration of Prometheus in docker compose', () => {
  expect(promtool(['check', 'rules', rulesFile])).toBe('');
  expect(promtool(['check', 'config', '--syntax-only', join(root, 'deploy/compose/observe/prometheus.yaml')])).toBe('');
});

describe.each(Object.entries(cases))('%s', (alert, { atMinute, fires, firesToo = {}, stays }) => {
  const rule = rules.find((one) => one.alert === alert);

  test.each(Object.entries({ '': fires, ...firesToo }))('fires %s', (_what, { when, labels, summary }) => {
    const expected = {
      exp_labels: { namespace: 'vision', severity: rule?.labels.severity, ...labels },
      exp_annotations: { summary, runbook: rule?.annotations.runbook },
    };
    expect(tested(when, atMinute, { alert, expected: [expected] })).toBe('');
  });

  for (const [what, when] of Object.entries(stays)) {
    test(`stays silent: ${what}`, () => {
      expect(tested(when, atMinute, { alert, expected: [] })).toBe('');
    });
  }
});

function tested(when: Series, atMinute: number, { alert, expected }: { alert: string; expected: object[] }): string {
  const input = Object.entries(when).map(([series, values]) => ({ series, values }));
  const content = {
    rule_files: ['alerts.json'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: input,
        alert_rule_test: [{ eval_time: `${atMinute}m`, alertname: alert, exp_alerts: expected }],
      },
    ],
  };
  return promtoolOn('test', content, { 'alerts.json': fileOfAlert(alert) });
}
