import type { ServerResponse } from 'node:http';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { AggregationTemporality, DataPointType, InstrumentType, MetricReader } from '@opentelemetry/sdk-metrics';
import type { MetricData, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { madeMetrics } from './instruments.ts';
import { nameWithUnit, prometheusName } from './metric.ts';

/**
 * How instruments are collected. A gauge that is read at each collection is collected as changes since the last one,
 * because the library would otherwise go on showing what is not told any more: the partitions that another replica has
 * now, the outbox that another one publishes.
 */
export function temporalityOf(type: InstrumentType): AggregationTemporality {
  return type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
}

/** Metrics for Prometheus to fetch. Their names are those that a collector makes of the same metrics when pushed. */
export class PullReader extends MetricReader {
  readonly #serializer = new PrometheusSerializer();

  constructor() {
    super({ aggregationTemporalitySelector: temporalityOf });
  }

  /** Answers with all metrics in the text format of Prometheus. */
  async answer(res: ServerResponse): Promise<void> {
    try {
      const { resourceMetrics } = await this.collect();
      res.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
      res.end(this.#serializer.serialize(withUnits(resourceMetrics)) + unmeasured(resourceMetrics));
    } catch {
      res.writeHead(503).end('metrics cannot be collected\n');
    }
  }

  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

/** Types of metrics without any sample yet, so that `/metrics` names all that this process has. */
function unmeasured({ scopeMetrics }: ResourceMetrics): string {
  const measured = new Set(scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name)));
  return [...madeMetrics.values()]
    .filter(({ name }) => !measured.has(name))
    .map((metric) => `# TYPE ${prometheusName(metric)} ${metric.kind}\n`)
    .join('');
}

/** The exporter of the library leaves units out of names. */
function withUnits({ resource, scopeMetrics }: ResourceMetrics): ResourceMetrics {
  return {
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map((metric) => withUnit(metric)),
    })),
  };
}

function withUnit(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  const kind = metric.dataPointType === DataPointType.GAUGE ? 'gauge' : 'counter';
  return { ...metric, descriptor: { ...metric.descriptor, name: nameWithUnit({ name, unit, kind }), unit: '' } };
}
