import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { AlwaysOffSampler, NoopSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Span } from '@opentelemetry/api';
import { IncomingMessage } from 'node:http';
import type { ClientRequest, ServerResponse } from 'node:http';
import { register } from 'node:module';
import { edgePropagator, linkOutsideTrace } from './telemetry/edge-trace.ts';
import { incomingAttributes, outgoingAttributes } from './telemetry/span-attributes.ts';

export interface TelemetryOptions {
  /** `service.name` unless OTEL_SERVICE_NAME says otherwise. */
  name: string;
  /** For the service that callers from outside reach: their trace is linked, never continued. */
  edge?: {
    /** Takes secrets out of a path that a caller wrote. */
    maskPath: (path: string) => string;
  };
}

let sdk: NodeSDK | undefined;
let prometheus: PrometheusExporter | undefined;

/**
 * Starts OpenTelemetry; call it from the `--import` preload, before anything else is loaded. The loader hook wraps
 * modules that are imported as ESM; without it express and ioredis would silently stay uninstrumented. The spans of
 * Kafka are our own.
 *
 * Where spans go is said by the standard variables: OTEL_TRACES_EXPORTER (otlp, zipkin, console, none) with the address
 * of that exporter, or just OTEL_EXPORTER_OTLP_ENDPOINT or its traces variant. Metrics are read from `/metrics` of the
 * health listener.
 */
export function startTelemetry({ name, edge }: TelemetryOptions): void {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  prometheus = new PrometheusExporter({ preventServerStart: true });
  sdk = new NodeSDK({
    serviceName: process.env['OTEL_SERVICE_NAME'] || name,
    resource: resourceFromAttributes({ 'service.namespace': 'vision' }),
    metricReaders: [prometheus],
    // Logs go to stdout.
    logRecordProcessors: [],
    // Without a collector nothing is recorded, but every request still has a trace id to be named by.
    ...(exportsSpans(process.env)
      ? {}
      : { spanProcessors: [new NoopSpanProcessor()], sampler: new AlwaysOffSampler() }),
    ...(edge ? { textMapPropagator: edgePropagator } : {}),
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: isProbe,
        startIncomingSpanHook: (request) => incomingAttributes(request, edge?.maskPath),
        ...(edge ? { requestHook: linkIncoming, startOutgoingSpanHook: outgoingAttributes } : {}),
      }),
      new ExpressInstrumentation(),
      new UndiciInstrumentation(),
      new PgInstrumentation({ requireParentSpan: true }),
      new IORedisInstrumentation({ requireParentSpan: true }),
    ],
  });
  sdk.start();
}

/** Whether the environment says where spans go. As the specification has it, an empty variable counts as unset. */
function exportsSpans(env: NodeJS.ProcessEnv): boolean {
  const exporter = env['OTEL_TRACES_EXPORTER'];
  if (exporter) return exporter !== 'none';
  return Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT']) || Boolean(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']);
}

/** Flushes spans and metrics; the last thing a process does. */
export async function stopTelemetry(): Promise<void> {
  await sdk?.shutdown().catch(() => undefined);
}

/** Answers a scrape in Prometheus text form; 503 when telemetry was not started. */
export function metricsHandler(req: IncomingMessage, res: ServerResponse): void {
  if (prometheus) prometheus.getMetricsRequestHandler(req, res);
  else res.writeHead(503).end('telemetry is off\n');
}

/** Meter for the signals of a service; a no-op when telemetry is off. */
export const meter = (service: string) => metrics.getMeter(`vision.${service}`);

function isProbe(req: IncomingMessage): boolean {
  return /^\/(health\/|metrics)/.test(req.url ?? '');
}

function linkIncoming(span: Span, request: ClientRequest | IncomingMessage): void {
  if (request instanceof IncomingMessage) linkOutsideTrace(span, request.headers);
}
