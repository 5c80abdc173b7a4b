/**
 * `make dashboards`: runs every query of the dashboards on the Prometheus of `make up OBSERVE=1`, and draws them much
 * as Grafana would, into .local/dashboards. It names the panels without an answer, and the series that were missing
 * for it. It fails when Prometheus refuses a query, or when nothing comes though all series are there. MINUTES is the
 * time drawn.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, installMissing } from '../../local/host-programs.ts';
import { readSettings, say } from '../../local/settings.ts';
import { dashboards } from '../all.ts';
import { grafanaJson } from '../grafana.ts';
import { askMarks, askPanel, emptySelectors, valuesOf } from './ask.ts';
import type { Span } from './ask.ts';
import { laidOut, opened } from './lay.ts';
import { pageOf } from './page.ts';
import type { Filled } from './page.ts';
import type { DrawnDashboard } from './panel.ts';

const POINTS = 240;
const folder = join(readSettings().localDir, 'dashboards');

try {
  installMissing(['chromium']);
  mkdirSync(folder, { recursive: true });
  const span = spanOf(process.env['PROMETHEUS_URL'], Number(process.env['MINUTES'] || 15));
  let unexplained = 0;
  for (const dashboard of dashboards)
    unexplained += await draw(dashboard.name, JSON.parse(grafanaJson(dashboard)) as DrawnDashboard, span);
  if (unexplained > 0) throw new Error(`${unexplained} queries give nothing though their series are there.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function spanOf(prometheus: string | undefined, minutes: number): Span {
  if (!prometheus) throw new Error('Nothing is recorded: start the system with make up OBSERVE=1.');
  const to = Math.floor(Date.now() / 1000);
  const from = to - 60 * minutes;
  return { prometheus, from, to, stepSeconds: Math.max(5, Math.round((to - from) / POINTS)) };
}

/** Draws one dashboard; returns how many queries give nothing though their series are there. */
async function draw(name: string, dashboard: DrawnDashboard, span: Span): Promise<number> {
  const values: Record<string, string[]> = {};
  for (const { name: variable, query } of dashboard.templating.list.filter(({ type }) => type === 'query')) {
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
    values[variable] = await valuesOf(span, metric, label);
  }
  const filled: Filled[] = [];
  for (const { panel, chosen } of laidOut(opened(dashboard.panels), values))
    filled.push({ panel, chosen, answers: await askPanel(span, panel, chosen) });
  const marks = (await Promise.all(dashboard.annotations.list.map((one) => askMarks(span, one)))).flat();
  const { html, width, height } = pageOf(dashboard, filled, { span, marks });
  const file = join(folder, name);
  writeFileSync(`${file}.html`, html);
  takePicture(`${file}.html`, `${file}.png`, `${width},${height}`);
  const panels = filled.filter(({ answers }) => answers.length > 0).length;
  say('drawn', `${file}.png: ${panels} panels, ${marks.length} marks`);
  let unexplained = 0;
  for (const one of filled) unexplained += await reportEmpty(name, one, span);
  return unexplained;
}

/** Names each query without an answer. Returns how many of them had every series that they ask for. */
async function reportEmpty(dashboard: string, { panel, chosen, answers }: Filled, span: Span): Promise<number> {
  let unexplained = 0;
  for (const { target, lines } of answers) {
    if (lines.length > 0) continue;
    const empty = await emptySelectors(span, target, chosen);
    const isComparison = / (>|unless) /.test(target.expr ?? '');
    const why = empty.length > 0 ? `no series ${empty.join(', ')}` : isComparison ? 'nothing above 0' : 'UNEXPLAINED';
    say('empty', `${dashboard} / ${panel.title}${target.legendFormat ? ` (${target.legendFormat})` : ''}: ${why}`);
    if (why === 'UNEXPLAINED') unexplained += 1;
  }
  return unexplained;
}

function takePicture(html: string, png: string, size: string): void {
  const flags = ['--no-sandbox', '--disable-gpu', '--hide-scrollbars', `--window-size=${size}`, `--screenshot=${png}`];
  const { status, stderr } = spawnSync(
    findProgram('chromium') ?? 'chromium',
    ['--headless', ...flags, `file://${html}`],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`Chromium drew no ${png}: ${stderr}`);
}
