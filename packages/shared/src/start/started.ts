import type { ServerResponse } from 'node:http';
import { atMost } from '../async/at-most.ts';
import { TELEMETRY_MS } from '../stop-times.ts';

/**
 * What a process asks of the telemetry that its preload started. It stands apart from `../telemetry.ts` because
 * OpenTelemetry's SDK is a thousand modules, and a process without the preload needs none of them.
 */
export interface StartedTelemetry {
  /** Answers a scrape in Prometheus text form. */
  answerScrape: (res: ServerResponse) => Promise<void>;
  /** Sends what waits to be sent. */
  shutdown: () => Promise<void>;
}

let started: StartedTelemetry | undefined;

/** Says what the functions below use from now on. */
export function noteStarted(telemetry: StartedTelemetry): void {
  started = telemetry;
}

/** Sends what waits to be sent, for as long as a stop grants; the last thing a process does. */
export async function stopTelemetry(): Promise<void> {
  await atMost(TELEMETRY_MS, started?.shutdown() ?? Promise.resolve()).catch(() => undefined);
}

/** Answers a scrape in Prometheus text form; 503 when telemetry was not started. */
export function metricsHandler(res: ServerResponse): void {
  if (started) void started.answerScrape(res);
  else res.writeHead(503).end('telemetry is off\n');
}
