import { expect, test } from '@jest/globals';
import { promtoolOn } from '../alerts/promtool.ts';
import { dashboards } from './all.ts';

test.each(dashboards)('every expression of "$title" can be parsed', ({ sections }) => {
  const panels = sections.flatMap((section) => section.panels);
  const rules = panels.flatMap((panel) =>
    'queries' in panel ? panel.queries.map(({ expr }) => ({ record: nameOf(panel.title), expr: filledIn(expr) })) : [],
  );
  expect(rules.length).toBeGreaterThan(5);
  expect(promtoolOn('check', { groups: [{ name: 'panels', rules }] })).toBe('');
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
