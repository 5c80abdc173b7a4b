import { createGauge, createHistogram } from '../telemetry/instruments.ts';
import { upstreamMetrics } from '../telemetry/shared-metrics.ts';
import type { CallOutcome } from './error-type.ts';
import { recentTimeouts } from './recent-timeouts.ts';

interface CallRecord {
  upstream: string;
  operation: string;
  outcome: CallOutcome;
  spentMs: number;
  limitMs: number | undefined;
}

let instruments: ReturnType<typeof createInstruments> | undefined;

const createInstruments = () => ({
  duration: createHistogram(upstreamMetrics.duration),
  limit: createGauge(upstreamMetrics.limit),
});

/** Measures one call, and remembers it for a minute when it timed out. */
export function recordCall({ upstream, operation, outcome, spentMs, limitMs }: CallRecord): void {
  recentTimeouts.note({ upstream, operation, outcome });
  instruments ??= createInstruments();
  instruments.duration.record(spentMs / 1000, { upstream, operation, outcome });
  if (limitMs !== undefined && Number.isFinite(limitMs)) {
    instruments.limit.record(limitMs / 1000, { upstream, operation });
  }
}
