import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** Records the spans that this process makes by itself from now on; libraries are not instrumented. */
export function recordSpans(): { spans: () => ReadableSpan[]; clear: () => void; stop: () => Promise<void> } {
  const exporter = new InMemorySpanExporter();
  const sdk = new NodeSDK({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
    autoDetectResources: false,
  });
  sdk.start();
  return { spans: () => exporter.getFinishedSpans(), clear: () => exporter.reset(), stop: () => sdk.shutdown() };
}
