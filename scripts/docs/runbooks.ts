import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { alertRules } from '../../deploy/alerts/alert-rules.ts';
import type { AlertRule } from '../../deploy/alerts/alert-rules.ts';

const folder = 'docs/runbooks';
const index = `${folder}/README.md`;

/** What is wrong with the pages of alerts: each alert has one with its name, and each page has its alert. */
export function runbookFaults(root: string): string[] {
  const rules = alertRules();
  const alerts = new Set(rules.map(({ alert }) => `${alert}.md`));
  const strangers = readdirSync(join(root, folder)).filter((name) => name !== 'README.md' && !alerts.has(name));
  return [
    ...rules.flatMap((rule) => pageFaults(root, rule)),
    ...strangers.map((name) => `${folder}/${name}: there is no such alert`),
  ];
}

/** What is wrong with the page of one alert and with its line in the index. */
export function pageFaults(root: string, { alert, labels, annotations }: AlertRule): string[] {
  const path = `${folder}/${alert}.md`;
  if (!existsSync(join(root, path))) return [`the alert ${alert} has no page ${path}`];
  const listed = `- [${alert}](${alert}.md) (${labels.severity}): `;
  return [
    ...(annotations.runbook === path ? [] : [`the alert ${alert} leads to ${annotations.runbook}, not to ${path}`]),
    ...(orderOf(labels.severity, alert).test(read(root, path))
      ? []
      : [`${path}: title, severity, callers, first command and cases are not in this order`]),
    ...(read(root, index).includes(listed) ? [] : [`${index}: there is no line "${listed}…"`]),
  ];
}

/** A person who was woken reads from top to bottom, so the first command comes before any case. */
const orderOf = (severity: string, alert: string) =>
  new RegExp(
    String.raw`^# ${alert}\n\n\*\*${severity}\.\*\* (?:(?!^## ).*\n)*\*\*Callers\*\* (?:(?!^## ).*\n)*` +
      String.raw`\*\*First:\*\*(?:(?!^## ).*\n)*${'```'}(?:sh|promql)\n(?:(?!^## ).*\n)*## `,
    'm',
  );

const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
