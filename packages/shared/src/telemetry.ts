import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { AggregationType } from '@opentelemetry/sdk-metrics';
import { AlwaysOffSampler, NoopSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Span } from '@opentelemetry/api';
import type { ViewOptions } from '@opentelemetry/sdk-metrics';
import { IncomingMessage } from 'node:http';
import type { ClientRequest } from 'node:http';
import { createRequire } from 'node:module';
import { edgePropagator, linkOutsideTrace } from './telemetry/edge-trace.ts';
import { exportersOf } from './telemetry/exported-signals.ts';
import { libraryMetrics } from './telemetry/library-metrics.ts';
import { showProcess } from './telemetry/process-info.ts';
import { PullReader } from './telemetry/pull-metrics.ts';
import { pushReader } from './telemetry/push-metrics.ts';
import { noteStarted } from './start/started.ts';
import type { HistogramMetric } from './telemetry/metric.ts';
import { incomingAttributes, unansweredAttributes } from './telemetry/span-attributes.ts';

export interface TelemetryOptions {
  /** `service.name` unless OTEL_SERVICE_NAME says otherwise. */
  name: string;
  /** For the service that callers from outside reach: their trace is linked, never continued. */
  edge?: {
    /** Takes secrets out of a path that a caller wrote. */
    maskPath: (path: string) => string;
  };
}

/**
 * Starts OpenTelemetry; call it from the `--import` preload, before anything else is loaded. The spans of what we call
 * are our own (`upstream/call-upstream.ts`).
 *
 * Where telemetry goes is said by the standard variables: OTEL_TRACES_EXPORTER (otlp, zipkin, console, none),
 * OTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER (otlp, none), or just OTEL_EXPORTER_OTLP_ENDPOINT or its variant for one
 * of them. Metrics can be read from `/metrics` of the health listener and lines from stdout in any case.
 */
export function startTelemetry({ name, edge }: TelemetryOptions): void {
  const pulled = new PullReader();
  const isPushed = exportersOf(process.env, 'METRICS').includes('otlp');
  const sdk = new NodeSDK({
    serviceName: process.env['OTEL_SERVICE_NAME'] || name,
    resource: resourceFromAttributes({ 'service.namespace': 'vision' }),
    metricReaders: isPushed ? [pulled, pushReader(process.env)] : [pulled],
    // Its own bounds end before the longest requests do.
    views: [boundsOf(libraryMetrics.httpServer)],
    // Set to nothing, unless the SDK is to make what the environment says.
    ...(exportsLogs(process.env) ? {} : { logRecordProcessors: [] }),
    // Without a collector nothing is recorded, but every request still has a trace id to be named by.
    ...(exportersOf(process.env, 'TRACES').length > 0
      ? {}
      : { spanProcessors: [new NoopSpanProcessor()], sampler: new AlwaysOffSampler() }),
    ...(edge ? { textMapPropagator: edgePropagator } : {}),
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: isProbe,
        startIncomingSpanHook: (request) => incomingAttributes(request, edge?.maskPath),
        applyCustomAttributesOnSpan: (span, _request, response) => span.setAttributes(unansweredAttributes(response)),
        disableOutgoingRequestInstrumentation: true,
        ...(edge ? { requestHook: linkIncoming } : {}),
      }),
      new RuntimeNodeInstrumentation(),
    ],
  });
  sdk.start();
  instrumentHttp();
  noteStarted({ answerScrape: (res) => pulled.answer(res), shutdown: () => sdk.shutdown() });
  showProcess();
}

/**
 * The instrumentation changes a module when it is required, and ours are imported. What it changes of these two is
 * shared by both ways. Its loader for imports would look into each of 2,000 modules, for two seconds of processor time.
 */
function instrumentHttp(): void {
  const require = createRequire(import.meta.url);
  require('node:http');
  require('node:https');
}

/** The console would repeat the lines of stdout, so it is no exporter of logs here. */
function exportsLogs(env: NodeJS.ProcessEnv): boolean {
  const names = exportersOf(env, 'LOGS');
  return names.length > 0 && names.every((name) => name === 'otlp');
}

const boundsOf = ({ name: instrumentName, buckets: boundaries }: HistogramMetric): ViewOptions => ({
  instrumentName,
  aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: [...boundaries] } },
});

function isProbe(req: IncomingMessage): boolean {
  return /^\/(health\/|metrics)/.test(req.url ?? '');
}

function linkIncoming(span: Span, request: ClientRequest | IncomingMessage): void {
  if (request instanceof IncomingMessage) linkOutsideTrace(span, request.headers);
}
