import { capacity } from './capacity.ts';
import { grafanaJson } from './grafana.ts';
import { kafka } from './kafka.ts';
import { overview } from './overview.ts';
import type { Dashboard } from './panels.ts';
import { quota } from './quota.ts';
import { upstreamTimeouts } from './upstream-timeouts.ts';
import { video } from './video.ts';

export const dashboards: Dashboard[] = [upstreamTimeouts, overview, video, quota, kafka, capacity];

/** Where they are written: for whoever runs Grafana, and for the chart, which reads no file outside its folder. */
const FOLDERS = ['deploy/dashboards', 'charts/vision/files/dashboards'];

/** What Grafana shows, by file. */
export const dashboardFiles = (): Record<string, string> =>
  Object.fromEntries(
    dashboards.flatMap((dashboard) =>
      FOLDERS.map((folder) => [`${folder}/${dashboard.name}.json`, grafanaJson(dashboard)]),
    ),
  );
