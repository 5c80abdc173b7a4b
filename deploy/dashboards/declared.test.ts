import { expect, test } from '@jest/globals';
import { metricCatalogue } from '../../scripts/docs/metric-catalogue.ts';
import { metricNamesIn, metricUses } from '../../scripts/docs/metric-uses.ts';
import { prometheusName, seriesOf } from '@vision/shared/telemetry/metric';
import { alertRules } from '../alerts/alert-rules.ts';
import { root } from '../local/settings.ts';
import { dashboardFiles } from './all.ts';

const metrics = (await metricCatalogue(root)).flatMap((group) => group.metrics);
const series = new Set(metrics.flatMap(seriesOf));
const uses = metricUses(root, dashboardFiles());

/** Made by Prometheus itself. */
const MADE_BY_PROMETHEUS = ['up', 'ALERTS'];

test('panels and rules ask only for metrics that are declared', () => {
  expect(uses.length).toBeGreaterThan(100);
  for (const { where, expr } of uses) {
    const unknown = metricNamesIn(expr).filter((name) => !series.has(name) && !MADE_BY_PROMETHEUS.includes(name));
    expect({ where, unknown }).toEqual({ where, unknown: [] });
  }
});

test.each([
  ['an alert', alertRules().flatMap(({ expr }) => metricNamesIn(expr))],
  ['a panel', uses.flatMap(({ kind, expr }) => (kind === 'panel' ? metricNamesIn(expr) : []))],
])('a metric that calls itself an alarm has %s', (_what, asked) => {
  const alarms = metrics.filter(({ meaning }) => /\balarm\b/.test(meaning));
  expect(alarms.length).toBeGreaterThan(10);
  const without = alarms.filter((metric) => !seriesOf(metric).some((name) => asked.includes(name)));
  expect(without.map(prometheusName)).toEqual([]);
});

test('a bound that they ask for is one of the buckets', () => {
  const asked = uses.flatMap(({ where, expr }) =>
    [...expr.matchAll(/(\w+)_bucket\{([^}]*)\}/g)].flatMap(([, name = '', labels = '']) => {
      const bounds = /\ble=~?"([^"]+)"/.exec(labels)?.[1]?.split('|') ?? [];
      return bounds.map((bound) => ({ where, name, bound }));
    }),
  );
  expect(asked.length).toBeGreaterThan(0);
  for (const { where, name, bound } of asked) {
    const buckets = metrics.find((metric) => prometheusName(metric) === name)?.buckets?.map(String) ?? [];
    expect({ where, bound, is: ['+Inf', ...buckets].includes(bound) }).toEqual({ where, bound, is: true });
  }
});

test('and for labels that their metrics have', () => {
  const known = new Map(
    metrics.flatMap((metric) =>
      seriesOf(metric).map((name) => [name, Object.keys(metric.labels).map((label) => label.replaceAll('.', '_'))]),
    ),
  );
  const ofScrape = ['namespace', 'service', 'pod', 'job', 'instance', 'le'];
  for (const { where, expr } of uses) {
    for (const [, name = '', matchers = ''] of expr.matchAll(/\b([a-z]\w+)\{([^}]*)\}/g)) {
      const asked = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label);
      const unknown = asked.filter((label) => !ofScrape.includes(label) && known.get(name)?.includes(label) === false);
      expect({ where, name, unknown }).toEqual({ where, name, unknown: [] });
    }
  }
});
