import { expect, test } from '@jest/globals';
import { promtoolOn } from '../alerts/promtool.ts';
import { dashboards } from './all.ts';
import { annotationExpressions } from './annotations.ts';
import { SERVICES_GONE } from './overview.ts';
import { happening, sum } from './promql.ts';

test.each(dashboards)('every expression of "$title" can be parsed', ({ sections }) => {
  const panels = sections.flatMap((section) => section.panels);
  const rules = panels.flatMap((panel) =>
    'queries' in panel ? panel.queries.map(({ expr }) => ({ record: nameOf(panel.title), expr: filledIn(expr) })) : [],
  );
  expect(rules.length).toBeGreaterThan(5);
  expect(promtoolOn('check', { groups: [{ name: 'panels', rules }] })).toBe('');
});

test('every expression of an annotation can be parsed', () => {
  const rules = annotationExpressions.map((expr) => ({ record: 'annotation', expr: filledIn(expr) }));
  expect(promtoolOn('check', { groups: [{ name: 'annotations', rules }] })).toBe('');
});

const COUNTER = 'vision_gateway_requests_total{namespace="vision"}';

/** Growth over the five minutes before minute 20. */
test.each([
  ['a counter that stands still', '1000x30', 0],
  ['a counter that grows', '1000+2x30', 10],
  ['a first event', '_x17 1x10', 1],
  ['a process that began anew', '1000x17 3x10', 3],
  ['a scrape that was missed at the start of the window', '1000x13 stale 1000x20', 0],
  ['scrapes that were missed for the whole window', '1000x10 stale _x6 1004x20', 4],
])('shows the growth of %s', (_what, values, expected) => {
  const test = {
    interval: '1m',
    input_series: [{ series: COUNTER, values }],
    promql_expr_test: [
      {
        expr: filledIn(sum('', happening('vision_gateway_requests_total'))),
        eval_time: '20m',
        exp_samples: [{ labels: '{}', value: expected }],
      },
    ],
  };
  expect(promtoolOn('test', { evaluation_interval: '1m', tests: [test] })).toBe('');
});

const expected = (...services: string[]) =>
  services.map((service) => ({
    series: `vision:services:expected{namespace="vision",service="${service}"}`,
    values: '1x10',
  }));
const up = (service: string, value: number) => ({
  series: `up{namespace="vision",service="${service}",pod="${service}-1"}`,
  values: `${value}x10`,
});

test.each([
  ['all are there', [...expected('tasks', 'images'), up('tasks', 1), up('images', 1)], 0],
  ['one is down, and one has no target', [...expected('tasks', 'images', 'quota'), up('tasks', 1), up('images', 0)], 2],
  ['the namespace is gone', [], 7],
])('counts services without a replica: %s', (_what, series, value) => {
  const test = {
    interval: '1m',
    input_series: series,
    promql_expr_test: [{ expr: filledIn(SERVICES_GONE), eval_time: '5m', exp_samples: [{ labels: '{}', value }] }],
  };
  expect(promtoolOn('test', { evaluation_interval: '1m', tests: [test] })).toBe('');
});

test('an expression that cannot be parsed is found', () => {
  const rules = [{ record: 'panel', expr: 'sum by (x (vision_sources)' }];
  expect(promtoolOn('check', { groups: [{ name: 'panels', rules }] })).toContain('could not parse expression');
});

/** Grafana puts values in the place of its variables. */
const filledIn = (expr: string) =>
  expr.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h').replaceAll(/\$\w+/g, '.*');

/** promtool names the rule that it does not understand. */
const nameOf = (title: string) => `panel:${title.toLowerCase().replaceAll(/[^a-z]+/g, '_')}`;
