/** One line of a panel: a query, and what its lines are called. */
interface Query {
  expr: string;
  legend: string;
}

interface Panel {
  title: string;
  unit: string;
  queries: Query[];
  description?: string;
}

const of = (legend: string, expr: string): Query => ({ expr, legend });
/** Only series of the namespace that the dashboard shows. */
const NS = 'namespace=~"$namespace"';
const rate = (metric: string, more = '') => `rate(${metric}{${NS}${more}}[$__rate_interval])`;
const quantile = (q: number, metric: string, by: string) =>
  `histogram_quantile(${q}, sum by (le, ${by}) (${rate(`${metric}_bucket`)}))`;

/** Read from top to bottom: what callers see, what it waits for, what piles up, whether we are the slow ones. */
const overview: Panel[] = [
  {
    title: 'Requests by status',
    unit: 'reqps',
    queries: [of('{{status}}', `sum by (status) (${rate('vision_gateway_requests_total')})`)],
  },
  {
    title: 'Time to the last byte, p95',
    unit: 'ms',
    queries: [of('{{operation}}', quantile(0.95, 'vision_gateway_request_duration', 'operation'))],
  },
  {
    title: 'Calls without an answer, by service',
    unit: 'cps',
    queries: [of('{{upstream}}', `sum by (upstream) (${rate('vision_gateway_upstream_errors_total')})`)],
  },
  {
    title: 'Calls to the backend by outcome',
    unit: 'cps',
    queries: [of('{{name}} {{outcome}}', `sum by (name, outcome) (${rate('circuit_breaker_calls_total')})`)],
  },
  {
    title: 'Share of replicas with an open breaker',
    unit: 'percentunit',
    queries: [of('{{name}}', `avg by (name) (circuit_breaker_state{${NS}} == bool 2)`)],
  },
  {
    title: 'Pictures: waiting, decoding, detecting, p50 and p95',
    unit: 's',
    description: 'DETECT_TIMEOUT_MS of images is 20 s unless it was changed.',
    queries: [
      of('{{scene}} p50', quantile(0.5, 'vision_inference_image_duration', 'scene')),
      of('{{scene}} p95', quantile(0.95, 'vision_inference_image_duration', 'scene')),
    ],
  },
  {
    title: 'Events: oldest in an outbox',
    unit: 's',
    queries: [of('{{job}}', `max by (job) (vision_outbox_oldest_age{${NS}})`)],
  },
  {
    title: 'Events: age when handled, p95',
    unit: 's',
    queries: [of('{{group}}', quantile(0.95, 'vision_consumer_event_age', 'group'))],
  },
  {
    title: 'Unknown submissions: the oldest',
    unit: 's',
    queries: [of('age', `max(vision_tasks_resolving_age_seconds{${NS}})`)],
  },
  {
    title: 'Refused by limits',
    unit: 'cps',
    queries: [
      of('{{limit}}', `sum by (limit) (${rate('vision_gateway_limit_decisions_total', ',decision="refused"')})`),
    ],
  },
  {
    title: 'Statements of the databases, p95',
    unit: 's',
    queries: [of('{{db_namespace}}', quantile(0.95, 'db_client_operation_duration', 'db_namespace'))],
  },
  {
    title: 'Differences that audits found',
    unit: 'short',
    queries: [of('{{kind}}', `max by (kind) (vision_audit_differences{${NS}})`)],
  },
];

const streams: Panel[] = [
  {
    title: 'Tasks that have not ended',
    unit: 'short',
    queries: [of('{{status}}', `max by (status) (vision_tasks_active{${NS}})`)],
  },
  {
    title: 'Live sources by state',
    unit: 'short',
    queries: [of('{{state}}', `sum by (state) (vision_sources{${NS}})`)],
  },
  {
    title: 'Jobs and places for them',
    unit: 'short',
    queries: [of('at work', `sum(vision_jobs_at_work{${NS}})`), of('places', `sum(vision_jobs_places{${NS}})`)],
  },
  {
    title: 'Pictures and places for them',
    unit: 'short',
    queries: [of('there', `sum(vision_inference_load{${NS}})`), of('places', `sum(vision_inference_places{${NS}})`)],
  },
  {
    title: 'Frames published',
    unit: 'cps',
    queries: [of('{{scene}}', `sum by (scene) (${rate('vision_frames_published_total')})`)],
  },
  {
    title: 'Frames of live streams left out',
    unit: 'cps',
    queries: [of('{{reason}}', `sum by (reason) (${rate('vision_frames_dropped_total')})`)],
  },
  {
    title: 'Waiting for and running the model on a frame, p95',
    unit: 's',
    queries: [of('{{scene}}', quantile(0.95, 'vision_frame_detect_duration', 'scene'))],
  },
  {
    title: 'Connections to live sources lost',
    unit: 'cps',
    queries: [of('{{reason}}', `sum by (reason) (${rate('vision_source_retries_total')})`)],
  },
  {
    title: 'Jobs by how they ended',
    unit: 'cps',
    queries: [of('{{status}} {{reason}}', `sum by (status, reason) (${rate('vision_jobs_ended_total')})`)],
  },
  {
    title: 'Frames stored',
    unit: 'cps',
    queries: [of('frames', `sum(${rate('vision_results_frames_stored_total')})`)],
  },
];

/** charts/vision/files/dashboards: what Grafana shows, by file. */
export const dashboards = (): Record<string, string> => ({
  'charts/vision/files/dashboards/overview.json': dashboard('Vision: overview', 'vision-overview', overview),
  'charts/vision/files/dashboards/streams.json': dashboard('Vision: streams and pictures', 'vision-streams', streams),
});

function dashboard(title: string, uid: string, panels: Panel[]): string {
  const source = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' };
  const query = 'label_values(vision_gateway_requests_total, namespace)';
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  const namespace = {
    name: 'namespace',
    type: 'query',
    datasource,
    query,
    refresh: 2,
    includeAll: true,
    allValue: '.*',
  };
  return JSON.stringify({
    title,
    uid,
    tags: ['vision'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [source, namespace] },
    panels: panels.map((panel, index) => drawn(panel, index)),
  });
}

function drawn({ title, unit, queries, description }: Panel, index: number) {
  return {
    id: index + 1,
    type: 'timeseries',
    title,
    ...(description ? { description } : {}),
    datasource: { type: 'prometheus', uid: '${datasource}' },
    gridPos: { x: 12 * (index % 2), y: 8 * Math.floor(index / 2), w: 12, h: 8 },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode(65 + at),
      expr,
      legendFormat: legend,
    })),
  };
}
