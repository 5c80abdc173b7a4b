import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../local/settings.ts';

/** The one file of rules: the chart, docker compose and the local system load it. */
export const rulesFile = join(root, 'charts/vision/files/alerts.yaml');

export interface AlertRule {
  alert: string;
  expr: string;
  labels: { severity: 'critical' | 'warning' };
  annotations: { summary: string; runbook: string };
}

export interface RecordingRule {
  record: string;
  expr: string;
}

interface RulesFile {
  groups: { name: string; rules: (AlertRule | RecordingRule)[] }[];
}

const rules = () => (parse(readFileSync(rulesFile, 'utf8')) as RulesFile).groups.flatMap((group) => group.rules);

export const alertRules = (): AlertRule[] => rules().filter((rule) => 'alert' in rule);

/** Expressions of all rules, alerts and records. */
export const ruleExpressions = (): string[] => rules().map(({ expr }) => expr);
