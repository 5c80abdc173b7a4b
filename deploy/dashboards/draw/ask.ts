import type { Annotation, DrawnPanel, Target } from './panel.ts';

/** The time that is drawn, and how Grafana would fill in its variables for it. */
export interface Span {
  prometheus: string;
  /** Unix seconds. */
  from: number;
  to: number;
  stepSeconds: number;
}

export interface Line {
  name: string;
  labels: Record<string, string>;
  /** Unix seconds and values. */
  points: [number, number][];
}

/** What a query of a panel gave. */
export interface Answer {
  target: Target;
  lines: Line[];
}

interface Series {
  metric: Record<string, string>;
  values?: [number, string][];
  value?: [number, string];
}

/** Asks Prometheus what a panel asks. @throws Error with the words of Prometheus when it refuses the query. */
export async function askPanel(span: Span, panel: DrawnPanel, chosen: Record<string, string>): Promise<Answer[]> {
  const targets = (panel.targets ?? []).filter(
    ({ expr }) => expr !== undefined && panel.datasource?.type === 'prometheus',
  );
  return Promise.all(targets.map(async (target) => ({ target, lines: await linesOf(span, target, chosen) })));
}

async function linesOf(span: Span, target: Target, chosen: Record<string, string>): Promise<Line[]> {
  const query = filledIn(target.expr ?? '', span, chosen);
  const found = target.instant
    ? await ask(span, 'query', { query, time: String(span.to) })
    : await ask(span, 'query_range', {
        query,
        start: String(span.from),
        end: String(span.to),
        step: String(span.stepSeconds),
      });
  return found.map(({ metric, values, value }) => ({
    name: legendOf(target.legendFormat ?? '', metric),
    labels: metric,
    points: (values ?? (value ? [value] : [])).map(([at, text]): [number, number] => [at, Number(text)]),
  }));
}

/** A moment that the dashboard draws into its panels over time. */
export interface Mark {
  at: number;
  colour: string;
}

/** What an annotation asks: a mark where each of its series begins. */
export async function askMarks(span: Span, { iconColor, target }: Annotation): Promise<Mark[]> {
  const lines = await linesOf(span, { expr: target.expr }, {});
  return lines.flatMap(({ points }) => (points[0] ? [{ at: points[0][0], colour: iconColor }] : []));
}

/** Selectors of a query that matched no series in all of the time: what never happened has none. */
export async function emptySelectors(span: Span, target: Target, chosen: Record<string, string>): Promise<string[]> {
  const selectors = new Set(filledIn(target.expr ?? '', span, chosen).match(/[a-zA-Z_][\w:]*\{[^}]*\}/g));
  const seconds = Math.ceil(span.to - span.from);
  const empty: string[] = [];
  for (const selector of selectors) {
    const query = `count(last_over_time(${selector}[${seconds}s]))`;
    if ((await ask(span, 'query', { query, time: String(span.to) })).length === 0) empty.push(selector);
  }
  return empty.map((selector) => selector.replaceAll(/\w+=~"\.\*",?/g, '').replace('{}', ''));
}

/** Values that a label has in the time that is drawn. */
export async function valuesOf({ prometheus, from, to }: Span, metric: string, label: string): Promise<string[]> {
  const query = new URLSearchParams({ 'match[]': metric, start: String(from), end: String(to) });
  return getJson<string[]>(`${prometheus}/api/v1/label/${label}/values?${query.toString()}`);
}

async function ask({ prometheus }: Span, path: string, parameters: Record<string, string>): Promise<Series[]> {
  const query = new URLSearchParams(parameters);
  return (await getJson<{ result: Series[] }>(`${prometheus}/api/v1/${path}?${query.toString()}`)).result;
}

async function getJson<T>(url: string): Promise<T> {
  const reply = await fetch(url);
  const body = (await reply.json()) as { data: T; error?: string };
  if (!reply.ok) throw new Error(`${decodeURIComponent(url)}: ${body.error ?? reply.status}`);
  return body.data;
}

function filledIn(expr: string, { from, to, stepSeconds }: Span, chosen: Record<string, string>): string {
  const named = Object.entries(chosen).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr);
  return named
    .replaceAll('$__rate_interval', `${Math.max(60, 4 * stepSeconds)}s`)
    .replaceAll('$__range', `${Math.ceil(to - from)}s`)
    .replaceAll(/\$\w+/g, '.*');
}

const legendOf = (format: string, labels: Record<string, string>) =>
  format === ''
    ? Object.values(labels).join(' ')
    : format.replaceAll(/\{\{(\w+)\}\}/g, (_all, label: string) => labels[label] ?? '');
