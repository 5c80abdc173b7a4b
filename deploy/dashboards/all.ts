import { capacity } from './capacity.ts';
import { grafanaJson } from './grafana.ts';
import { kafka } from './kafka.ts';
import { overview } from './overview.ts';
import type { Dashboard } from './panels.ts';
import { quota } from './quota.ts';
import { upstreamTimeouts } from './upstream-timeouts.ts';
import { video } from './video.ts';

export const dashboards: Dashboard[] = [upstreamTimeouts, overview, video, quota, kafka, capacity];

/** The chart reads no file outside its folder; compose and operators take them from there. */
const FOLDER = 'charts/vision/files/dashboards';

/** What Grafana shows, by file. */
export const dashboardFiles = (): Record<string, string> =>
  Object.fromEntries(dashboards.map((dashboard) => [`${FOLDER}/${dashboard.name}.json`, grafanaJson(dashboard)]));
