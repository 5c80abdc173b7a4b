/** What a dashboard is made of; `grafana.ts` turns it into the JSON that Grafana reads. */

export interface Query {
  expr: string;
  /** Names of its lines, with labels in double braces. */
  legend: string;
}

interface Described {
  title: string;
  /** One sentence on how to read it. */
  reads: string;
  /** Of the 24 columns of a dashboard. */
  width?: number;
}

export interface Metrics extends Described {
  shows: 'lines' | 'stack' | 'number' | 'states' | 'table' | 'heatmap';
  /** As Grafana names units: `s`, `reqps`, `cps`, `percentunit`, `short`, `bytes`. */
  unit: string;
  queries: Query[];
  /** Values from here on are red. */
  red?: number;
  /** Values below are red. */
  least?: number;
  /** Values below are orange. */
  enough?: number;
  /** A choice of the dashboard: there is one such panel for each of its values. */
  repeat?: string;
  /** A search (TraceQL) for the traces behind a line; `${__field.labels.name}` is a label of the line. */
  traces?: string;
}

/** A list of traces, or of log lines counted, that a store other than Prometheus answers. */
export interface Found extends Described {
  shows: 'traces' | 'logs';
  query: string;
}

export type Panel = Metrics | Found;

export interface Section {
  /** A question; its panels answer it. */
  title: string;
  panels: Panel[];
  /** Collapsed until clicked: for details that matter only when another panel points to them. */
  isClosed?: true;
}

/** A label by which the whole dashboard can be narrowed. */
export interface Choice {
  name: string;
  /** A metric that has the label of this name. */
  metric: string;
}

export interface Dashboard {
  /** Of its file, and of its address in Grafana. */
  name: string;
  title: string;
  about: string;
  choices?: Choice[];
  sections: Section[];
}

type Options = Pick<Metrics, 'unit'> &
  Partial<Pick<Metrics, 'red' | 'least' | 'enough' | 'repeat' | 'traces' | 'width'>>;
type Make = (title: string, reads: string, queries: Query[], options: Options) => Metrics;

const maker =
  (shows: Metrics['shows']): Make =>
  (title, reads, queries, options) => ({ shows, title, reads, queries, ...options });

export const lines = maker('lines');
export const stack = maker('stack');
export const number = maker('number');
export const states = maker('states');
export const table = maker('table');
export const heatmap = maker('heatmap');
export const query = (legend: string, expr: string): Query => ({ legend, expr });
