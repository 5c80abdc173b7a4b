import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../local/settings.ts';

/** The one file of rules: the chart, docker compose and the local system load it. */
export const rulesFile = join(root, 'charts/vision/files/alerts.yaml');

export interface AlertRule {
  alert: string;
  expr: string;
  labels: { severity: 'critical' | 'warning' | 'none' };
  annotations: { summary: string; runbook: string };
}

export interface RecordingRule {
  record: string;
  expr: string;
}

interface RulesFile {
  groups: { name: string; rules: (AlertRule | RecordingRule)[] }[];
}

const parsedFile = () => parse(readFileSync(rulesFile, 'utf8')) as RulesFile;
const rules = () => parsedFile().groups.flatMap((group) => group.rules);

export const alertRules = (): AlertRule[] => rules().filter((rule) => 'alert' in rule);

/** The file with one alert and the records that it is made of: to evaluate all rules over days takes a minute. */
export function fileOfAlert(alert: string): RulesFile {
  const { groups } = parsedFile();
  const all = groups.flatMap((group) => group.rules);
  const needed = new Set(all.filter((rule) => 'alert' in rule && rule.alert === alert));
  // A set that grows while it is walked: records of records are found too.
  for (const { expr } of needed) {
    for (const rule of all) if ('record' in rule && expr.includes(rule.record)) needed.add(rule);
  }
  const kept = groups.map((group) => ({ ...group, rules: group.rules.filter((rule) => needed.has(rule)) }));
  return { groups: kept.filter((group) => group.rules.length > 0) };
}

/** Expressions of all rules, alerts and records. */
export const ruleExpressions = (): string[] => rules().map(({ expr }) => expr);
