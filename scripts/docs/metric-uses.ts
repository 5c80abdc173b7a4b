import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Where a query stands: a panel of a dashboard, or a rule. */
export interface MetricUse {
  kind: 'panel' | 'rule';
  /** "Dashboard: panel", or the name of the alert. */
  where: string;
  expr: string;
}

const RULES = 'charts/vision/files/alerts.yaml';

/** Every query of the dashboards and of the rules; `made` are files of this run, which count before those on disk. */
export function metricUses(root: string, made: Record<string, string>): MetricUse[] {
  const dashboards = Object.entries(made).filter(([path]) => /(^|\/)dashboards\/[^/]+\.json$/.test(path));
  // The chart may carry copies of the same dashboards.
  const seen = new Map<string, MetricUse>();
  for (const [, content] of dashboards) for (const use of panelsOf(content)) seen.set(`${use.where} ${use.expr}`, use);
  const rules = made[RULES] ?? readFileSync(join(root, RULES), 'utf8');
  return [...seen.values(), ...rulesOf(rules)];
}

interface Panel {
  title?: string;
  targets?: { expr?: string }[];
  panels?: Panel[];
}

function panelsOf(dashboard: string): MetricUse[] {
  const { title, panels = [] } = JSON.parse(dashboard) as { title: string; panels?: Panel[] };
  const uses = (panel: Panel): MetricUse[] => [
    ...(panel.targets ?? []).flatMap(({ expr }) =>
      expr === undefined ? [] : [{ kind: 'panel' as const, where: `${title}: ${panel.title ?? ''}`, expr }],
    ),
    ...(panel.panels ?? []).flatMap(uses),
  ];
  return panels.flatMap(uses);
}

interface Rules {
  groups: { rules: { alert?: string; record?: string; expr: string | number }[] }[];
}

function rulesOf(text: string): MetricUse[] {
  return (parse(text) as Rules).groups.flatMap(({ rules }) =>
    rules.map(({ alert, record, expr }) => ({
      kind: 'rule' as const,
      where: alert ?? record ?? '',
      expr: String(expr),
    })),
  );
}

/** The names of metrics in a query: words with an underscore that no bracket follows and that are no labels. */
export function metricNamesIn(expr: string): string[] {
  const withoutLabels = expr
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  return [...new Set(withoutLabels.match(/\b[a-zA-Z]\w*(?:_\w+)+\b(?!\s*\()/g) ?? [])].filter(
    (name) => !name.includes(':') && !/^__/.test(name),
  );
}
