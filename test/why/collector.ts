import { startSpanReceiver } from '@vision/shared/testing/span-receiver';
import { until } from '@vision/shared/testing/until';
import { spansOf } from './span.ts';
import type { Span } from './span.ts';
import type { Asked } from './asked.ts';

export interface Collector {
  url: string;
  /** Everything that arrived, as it came. */
  exports: () => unknown[];
  /** The spans of the trace of a request, once they are all there. */
  traceOf: (asked: Asked) => Promise<Span[]>;
  close: () => Promise<void>;
}

/** Spans are exported this often; by then the last ones of a trace have come. */
const QUIET_MS = 1_500;

/** Receives what the services export; nothing else about them is known here. */
export async function startCollector(): Promise<Collector> {
  const receiver = await startSpanReceiver();
  const all = () => receiver.json('/v1/traces').flatMap(spansOf);
  return {
    url: `${receiver.url}/v1/traces`,
    exports: () => receiver.json('/v1/traces'),
    traceOf: async (asked) => {
      const { traceId } = await until(() => beginningOf(asked, all()), { timeoutMs: 30_000, intervalMs: 250 });
      let [count, since] = [0, Date.now()];
      return until(
        () => {
          const spans = all().filter((span) => span.traceId === traceId);
          if (spans.length !== count) [count, since] = [spans.length, Date.now()];
          return Date.now() - since >= QUIET_MS ? spans : undefined;
        },
        { timeoutMs: 30_000, intervalMs: 250 },
      );
    },
    close: () => receiver.close(),
  };
}

function beginningOf({ traceId, requestId }: Asked, spans: readonly Span[]): Span | undefined {
  const isSought = (span: Span) =>
    traceId === undefined ? span.attributes['app.request_id'] === requestId : span.traceId === traceId;
  return spans.find((span) => span.parentId === undefined && isSought(span));
}
