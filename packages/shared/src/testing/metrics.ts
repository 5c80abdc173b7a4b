import { metrics } from '@opentelemetry/api';
import type { Attributes } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { temporalityOf } from '../telemetry/pull-metrics.ts';

class Reader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: temporalityOf });
  }

  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

export interface TestMetrics {
  /**
   * Sum over the points that have these attributes, of a histogram the number of its values; undefined when nothing
   * shows the metric.
   */
  sumOf: (name: string, attributes?: Attributes) => Promise<number | undefined>;
}

const numberOf = (value: number | { count: number }) => (typeof value === 'number' ? value : value.count);

/** Collects the metrics of this process. Call it before what is tested is constructed. */
export function testMetrics(): TestMetrics {
  const reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return {
    sumOf: async (name, attributes = {}) => {
      const { resourceMetrics } = await reader.collect();
      const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      const points = all.find(({ descriptor }) => descriptor.name === name)?.dataPoints;
      const isWanted = (point: { attributes: Attributes }) =>
        Object.entries(attributes).every(([key, value]) => point.attributes[key] === value);
      return points?.filter(isWanted).reduce((sum, { value }) => sum + numberOf(value), 0);
    },
  };
}
