import { sharedGroups } from './metric-groups.ts';
import type { MetricGroup } from './metric-groups.ts';
import { seriesOf } from '@vision/shared/telemetry/metric';
import type { Metric } from '@vision/shared/telemetry/metric';
import { importFrom, serviceNames } from './services.ts';

/** Every metric that is declared: those of each service, then those that several have. */
export async function metricCatalogue(root: string): Promise<MetricGroup[]> {
  const own = await Promise.all(
    serviceNames.map(async (service): Promise<MetricGroup> => {
      const modules = (await importFrom(root, service, 'metrics.ts')) as Record<string, unknown> | undefined;
      const metrics = Object.values(modules ?? {}).flatMap(metricsIn);
      return { title: service, services: [service], metrics };
    }),
  );
  return [...own, ...sharedGroups];
}

/** `metrics.ts` exports objects of metrics, and lists that these are made from. */
function metricsIn(exported: unknown): Metric[] {
  if (typeof exported !== 'object' || exported === null || Array.isArray(exported)) return [];
  return Object.values(exported as Record<string, Metric>);
}

/** The names of all series of these groups, as they stand on `/metrics`. */
export const seriesNames = (groups: MetricGroup[]): Set<string> =>
  new Set(groups.flatMap(({ metrics }) => metrics.flatMap(seriesOf)));
