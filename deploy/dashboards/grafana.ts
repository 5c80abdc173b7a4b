import type * as schema from '@grafana/schema';
import { annotations } from './annotations.ts';
import { PROMETHEUS, STORES } from './datasources.ts';
import type { Choice, Dashboard, Found, Metrics, Panel } from './panels.ts';

const COLUMNS = 24;

/** What never happened has no series. */
const NOTHING = 'Nothing in this time';

/** A type of Grafana's with the values of its enumerations in place of their names. */
type Written<T> = T extends string
  ? `${T}`
  : T extends number
    ? number
    : T extends (infer Item)[]
      ? Written<Item>[]
      : T extends object
        ? { [Key in keyof T]: Written<T[Key]> }
        : T;

type WrittenPanel = Written<schema.Panel> | Written<schema.RowPanel>;

/** The JSON of a dashboard, as Grafana 11 and newer read it. */
export function grafanaJson(dashboard: Dashboard): string {
  return JSON.stringify(written(dashboard));
}

function written({ name, title, about, choices = [], sections }: Dashboard): Written<schema.Dashboard> {
  const panels = placed(sections);
  return {
    title: `Vision: ${title}`,
    uid: `vision-${name}`,
    description: about,
    tags: ['vision'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    links: [
      {
        type: 'dashboards',
        tags: ['vision'],
        title: 'Vision',
        asDropdown: true,
        keepTime: true,
        includeVars: true,
        targetBlank: false,
        icon: '',
        tooltip: '',
      },
    ],
    annotations: { list: annotations },
    templating: { list: variablesOf(panels, choices) },
    panels,
  };
}

/** Panels from left to right, sections from top to bottom; the panels of a closed section stand in its row. */
function placed(sections: Dashboard['sections']): WrittenPanel[] {
  const list: WrittenPanel[] = [];
  let id = 0;
  let y = 0;
  for (const { title, panels, isClosed = false } of sections) {
    const top = y;
    const row = { id: (id += 1), type: 'row' as const, title, collapsed: isClosed, gridPos: at(0, top, COLUMNS, 1) };
    const inRow: WrittenPanel[] = [];
    y += 1;
    let x = 0;
    const areNumbers = panels.every(({ shows }) => shows === 'number');
    const height = areNumbers ? 4 : 8;
    for (const panel of panels) {
      const width = panel.width ?? Math.floor(COLUMNS / Math.min(panels.length, areNumbers ? 6 : 3));
      if (x + width > COLUMNS) [x, y] = [0, y + height];
      inRow.push({ id: (id += 1), gridPos: at(x, y, width, height), ...drawn(panel) });
      x += width;
    }
    y = isClosed ? top + 1 : y + height;
    if (isClosed) list.push({ ...row, panels: inRow });
    else list.push({ ...row, panels: [] }, ...inRow);
  }
  return list;
}

const at = (x: number, y: number, w: number, h: number) => ({ x, y, w, h });

const drawn = (panel: Panel) => ('query' in panel ? drawnFound(panel) : drawnMetrics(panel));

function drawnFound({ shows, title, reads: description, query }: Found) {
  const datasource = STORES[shows];
  const target =
    shows === 'traces'
      ? { refId: 'A', datasource, queryType: 'traceql', query, limit: 20, tableType: 'traces' }
      : { refId: 'A', datasource, queryType: 'instant', expr: query };
  return { type: 'table', title, description, datasource, targets: [target] };
}

function drawnMetrics({ shows, title, reads, unit, queries, traces, repeat, ...limits }: Metrics) {
  const { type, custom = {}, options, format } = styles[shows];
  const instant = shows === 'table';
  return {
    type,
    title,
    description: reads,
    datasource: PROMETHEUS,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        noValue: NOTHING,
        custom,
        ...coloured(shows, limits),
        links: traces ? [{ title: 'Traces behind this', targetBlank: true, url: searchFor(traces) }] : [],
      },
      overrides: [],
    },
    options,
    ...(repeat ? { repeat, repeatDirection: 'h' as const, maxPerRow: 3 } : {}),
    ...(instant ? { transformations: TABLE } : {}),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: PROMETHEUS,
      expr,
      legendFormat: legend,
      format,
      instant,
      range: !instant,
    })),
  };
}

const legend = { displayMode: 'list', placement: 'bottom', showLegend: true };
const tooltip = { mode: 'multi', sort: 'desc' };

interface Style {
  type: string;
  custom?: Record<string, unknown>;
  options: Record<string, unknown>;
  format: string;
}

const styles: Record<Metrics['shows'], Style> = {
  lines: { type: 'timeseries', custom: { lineWidth: 1 }, options: { legend, tooltip }, format: 'time_series' },
  stack: {
    type: 'timeseries',
    custom: { lineWidth: 1, fillOpacity: 40, stacking: { mode: 'normal', group: 'A' } },
    options: { legend, tooltip },
    format: 'time_series',
  },
  number: {
    type: 'stat',
    options: { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value', graphMode: 'area' },
    format: 'time_series',
  },
  states: {
    type: 'state-timeline',
    custom: { fillOpacity: 80 },
    options: { mergeValues: true, showValue: 'never', legend, tooltip },
    format: 'time_series',
  },
  table: {
    type: 'table',
    options: { showHeader: true, sortBy: [{ displayName: 'Value', desc: true }] },
    format: 'table',
  },
  heatmap: {
    type: 'heatmap',
    options: {
      calculate: false,
      yAxis: { unit: 's' },
      color: { mode: 'scheme', scheme: 'Oranges' },
      tooltip: { mode: 'single' },
    },
    format: 'heatmap',
  },
};

const TABLE = [{ id: 'organize', options: { excludeByName: { Time: true, namespace: true } } }];

/** States are green at 0 and red above; numbers are red from their limit on, or below what has to be there. */
function coloured(shows: Metrics['shows'], { red, least, enough }: Pick<Metrics, 'red' | 'least' | 'enough'>) {
  const from = shows === 'states' ? 0.000001 : red;
  const steps = [
    { color: least === undefined ? 'green' : 'red', value: null },
    ...(least === undefined ? [] : [{ color: enough === undefined ? 'green' : 'orange', value: least }]),
    ...(enough === undefined ? [] : [{ color: 'green', value: enough }]),
    ...(from === undefined ? [] : [{ color: 'red', value: from }]),
  ];
  if (steps.length === 1) return {};
  return { color: { mode: 'thresholds' as const }, thresholds: { mode: 'absolute' as const, steps } };
}

/** The address of a search in Explore, for the time that is shown. What stands in `${…}` is filled in by Grafana. */
function searchFor(traceQl: string): string {
  const query = { refId: 'A', datasource: STORES.traces, queryType: 'traceql', query: traceQl, limit: 50 };
  const pane = {
    datasource: STORES.traces.uid,
    queries: [query],
    range: { from: '${__from}', to: '${__to}' },
  };
  const parts = JSON.stringify({ found: pane }).split(/(\$\{[^}]+\})/);
  const encoded = parts.map((part) => (part.startsWith('${') ? part : encodeURIComponent(part)));
  return `/explore?schemaVersion=1&orgId=1&panes=${encoded.join('')}`;
}

function variablesOf(panels: object[], choices: Choice[]): Written<schema.VariableModel>[] {
  const text = JSON.stringify(panels);
  const source = (name: string, label: string, query: string) => ({
    name,
    label,
    type: 'datasource' as const,
    query,
  });
  const labels = [{ name: 'namespace', metric: 'vision_gateway_requests_total' }, ...choices];
  return [
    source('datasource', 'Metrics', 'prometheus'),
    ...(text.includes(STORES.traces.uid) ? [source('traces', 'Traces', 'tempo')] : []),
    ...(text.includes(STORES.logs.uid) ? [source('logs', 'Logs', 'loki')] : []),
    ...labels.map(({ name, metric }) => ({
      name,
      type: 'query' as const,
      datasource: PROMETHEUS,
      query: `label_values(${metric}, ${name})`,
      refresh: 2,
      includeAll: true,
      multi: true,
      allValue: '.*',
    })),
  ];
}
