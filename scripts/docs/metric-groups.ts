import { libraryMetrics, runtimeMetrics } from '../../packages/shared/src/telemetry/library-metrics.ts';
import type { Metric } from '../../packages/shared/src/telemetry/metric.ts';
import {
  accessMetrics,
  auditMetrics,
  breakerMetrics,
  consumerMetrics,
  kafkaMetrics,
  loopMetrics,
  outboxMetrics,
  poolMetrics,
  processMetrics,
  standbyMetrics,
  bucketMetrics,
  sweepMetrics,
  taskLoopMetrics,
  upstreamMetrics,
} from '../../packages/shared/src/telemetry/shared-metrics.ts';

/** Metrics that stand together in docs/metrics.md. */
export interface MetricGroup {
  title: string;
  services: readonly string[];
  metrics: readonly Metric[];
}

const all = ['gateway', 'tasks', 'images', 'results', 'quota', 'notify', 'inference'] as const;
/** Of results, Kafka still has what a database that fails over loses. */
const withPromises = all.filter((service) => service !== 'results');
const behindGateway = all.filter((service) => service !== 'gateway');

const group = (title: string, services: readonly string[], ...metrics: Record<string, Metric>[]): MetricGroup => ({
  title,
  services,
  metrics: metrics.flatMap((some) => Object.values(some)),
});

/** What several services measure, and which do. */
export const sharedGroups: MetricGroup[] = [
  group('Calls to upstreams', all, upstreamMetrics),
  group('Circuit breakers', ['tasks', 'images'], breakerMetrics),
  group('Calls between services', behindGateway, accessMetrics),
  group('Databases', all, poolMetrics),
  group('Databases whose commits must not be lost', withPromises, standbyMetrics),
  group('Outboxes', ['tasks', 'images', 'results', 'notify'], outboxMetrics),
  group('Consumers', ['tasks', 'results', 'quota', 'notify'], consumerMetrics),
  group('Kafka', behindGateway, kafkaMetrics),
  group('Audits', ['tasks', 'images', 'results', 'quota', 'inference'], auditMetrics),
  group('Background loops', all, loopMetrics),
  group('Background loops with a step for each task', ['tasks', 'images', 'results'], taskLoopMetrics),
  group('Sweeps of the object store', ['tasks', 'images', 'results'], sweepMetrics),
  group('Owners of the bucket', ['tasks', 'images', 'results'], bucketMetrics),
  group('Requests that a process serves', all, libraryMetrics),
  group('Processes', all, processMetrics, runtimeMetrics),
];
