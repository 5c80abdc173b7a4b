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
      : [`${path}: title, severity in three lines, first command, callers and cases are not in this order`]),
    ...(read(root, path).split('\n').length <= LONGEST_PAGE ? [] : [`${path}: more than ${LONGEST_PAGE} lines`]),
    ...(read(root, index).includes(listed) ? [] : [`${index}: there is no line "${listed}…"`]),
  ];
}

/** A person who was woken reads from top to bottom: after at most three lines comes the first command. */
const orderOf = (severity: string, alert: string) =>
  new RegExp(
    String.raw`^# ${alert}\n\n\*\*${severity}\.\*\* .+\n(?:.+\n){0,2}\n` +
      String.raw`\*\*First:\*\*\n\n${'```'}(?:sh|promql)\n(?:(?!^## ).*\n)*\*\*Callers\*\* (?:(?!^## ).*\n)*## `,
    'm',
  );

const LONGEST_PAGE = 50;

const read = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
