import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

export interface RecordedSpans {
  spans: () => ReadableSpan[];
  clear: () => void;
  stop: () => Promise<void>;
  /** Does the work as part of a trace, as for a request. */
  inRequest: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Records the spans that this process makes by itself from now on; libraries are not instrumented. */
export function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const sdk = new NodeSDK({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
    autoDetectResources: false,
  });
  sdk.start();
  return {
    spans: () => exporter.getFinishedSpans(),
    clear: () => exporter.reset(),
    stop: () => sdk.shutdown(),
    inRequest: (work) => trace.getTracer('test').startActiveSpan('request', (span) => work().finally(() => span.end())),
  };
}
