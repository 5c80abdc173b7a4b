/** What is drawn of a dashboard's JSON, as Grafana reads it. */
export interface DrawnPanel {
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { type: string };
  repeat?: string;
  /** Of a row that is closed: its panels. */
  panels?: DrawnPanel[];
  fieldConfig?: {
    defaults: {
      unit?: string;
      noValue?: string;
      custom?: { stacking?: object; fillOpacity?: number };
      thresholds?: { steps: { color: string; value: number | null }[] };
    };
  };
  targets?: Target[];
}

export interface Target {
  expr?: string;
  legendFormat?: string;
  instant?: boolean;
}

export interface Annotation {
  name: string;
  iconColor: string;
  target: { expr: string };
}

export interface DrawnDashboard {
  title: string;
  panels: DrawnPanel[];
  annotations: { list: Annotation[] };
  templating: { list: { name: string; type: string; query: string }[] };
}
