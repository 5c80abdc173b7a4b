import { prometheusName, seriesOf } from '@vision/shared/telemetry/metric';
import type { LabelValues, Metric } from '@vision/shared/telemetry/metric';
import type { MetricGroup } from './metric-groups.ts';
import { metricCatalogue } from './metric-catalogue.ts';
import { metricNamesIn, metricUses } from './metric-uses.ts';
import type { MetricUse } from './metric-uses.ts';

const HEAD = `# Metrics

Generated from the code (\`npm run docs\`); \`npm run docs:check\` refuses a stale copy. Every metric is declared in a
\`metrics.ts\` or in \`packages/shared/src/telemetry\`, and no instrument can be made without that.

- **Pull:** Prometheus text on \`/metrics\` of the health listener of each process. **Push:** the same metrics by OTLP when
  \`OTEL_METRICS_EXPORTER=otlp\`, \`OTEL_EXPORTER_OTLP_ENDPOINT\` or \`OTEL_EXPORTER_OTLP_METRICS_ENDPOINT\` says so, every
  \`OTEL_METRIC_EXPORT_INTERVAL\` milliseconds (60000).
- A name on \`/metrics\` has underscores for dots, ends in its unit and, for a counter, in \`_total\`: what a collector
  makes of the pushed metric too. A histogram \`x\` is \`x_bucket\`, \`x_count\` and \`x_sum\`.
- Durations are in seconds. Buckets reach beyond the longest time that can be seen; they stand in
  \`packages/shared/src/telemetry/buckets.ts\`.
- A counter whose labels are all listed begins with 0, so that its first increase shows.
- No label holds an id, an address or anything else that a stranger writes.
- A gauge that a store is asked for is asked for every 15 s, not when it is read; without an answer it is not shown. Every
  replica shows it: take \`max\`.
`;

/** docs/metrics.md */
export async function metricsDocument(root: string, made: Record<string, string>): Promise<string> {
  const groups = await metricCatalogue(root);
  const uses = metricUses(root, made).map((use) => ({ ...use, names: metricNamesIn(use.expr) }));
  return [HEAD, ...groups.map((group) => sectionOf(group, uses))].join('\n');
}

type Use = MetricUse & { names: string[] };

function sectionOf({ title, services, metrics }: MetricGroup, uses: Use[]): string {
  const where = services.length === 1 && services[0] === title ? '' : `In ${services.join(', ')}.\n`;
  return `## ${title}\n\n${where}\n${metrics.map((metric) => entryOf(metric, uses)).join('\n')}\n`;
}

function entryOf(metric: Metric, uses: Use[]): string {
  const series = seriesOf(metric);
  const users = uses.filter(({ names }) => names.some((name) => series.includes(name)));
  const facts = [metric.kind, ...(metric.unit === '' ? [] : [`in \`${metric.unit}\``])].join(' ');
  return [
    `- \`${prometheusName(metric)}\` (\`${metric.name}\`; ${facts}): ${metric.meaning}.`,
    ...Object.entries(metric.labels).map(([label, values]) => `  - \`${labelName(label)}\`: ${valuesOf(values)}`),
    ...usesOf('Panels', users, 'panel'),
    ...usesOf('Rules', users, 'rule'),
  ].join('\n');
}

const labelName = (label: string) => label.replaceAll('.', '_');

const valuesOf = (values: LabelValues) =>
  typeof values === 'string' ? values : values.map((value) => `\`${value}\``).join(', ');

function usesOf(title: string, users: Use[], kind: MetricUse['kind']): string[] {
  const names = [...new Set(users.filter((use) => use.kind === kind).map(({ where }) => where))];
  return names.length === 0 ? [] : [`  - ${title}: ${names.join('; ')}`];
}
