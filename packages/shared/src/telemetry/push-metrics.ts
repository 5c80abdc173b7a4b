import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { temporalityOf } from './pull-metrics.ts';

const MINUTE_MS = 60_000;
const LONGEST_EXPORT_MS = 30_000;

/** Sends the metrics by OTLP, as the standard variables say: OTEL_METRIC_EXPORT_INTERVAL and the protocol. */
export function pushReader(env: NodeJS.ProcessEnv): PeriodicExportingMetricReader {
  const intervalMs = Number(env['OTEL_METRIC_EXPORT_INTERVAL']) || MINUTE_MS;
  const timeoutMs = Number(env['OTEL_METRIC_EXPORT_TIMEOUT']) || LONGEST_EXPORT_MS;
  const exporter = exporterOf(env['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL']);
  exporter.selectAggregationTemporality = temporalityOf;
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(timeoutMs, intervalMs),
  });
}

function exporterOf(protocol: string | undefined) {
  if (protocol === 'grpc') return new GrpcExporter();
  return protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
}
