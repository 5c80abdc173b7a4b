import type { Logger } from '../logger.ts';
import { observe } from '../telemetry/instruments.ts';
import { loopMetrics } from '../telemetry/shared-metrics.ts';
import { asOutage } from '../unavailable.ts';

export interface LoopProgressOptions {
  name: string;
  logger: Logger;
  now?: () => number;
}

/** Tells operators whether a background loop succeeds: two gauges while it runs, log lines while it fails. */
export interface LoopProgress {
  /** The loop runs from now on and pauses for so long between its rounds. */
  started: (pauseMs: number) => void;
  succeeded: (pauseMs: number) => void;
  /** Failures in a row; the next try follows after the pause. */
  failed: (error: unknown, failures: number, pauseMs: number) => void;
  stopped: () => void;
}

/** The line of a loop that keeps failing is repeated this often. */
const REPEAT_LOG_MS = 10 * 60_000;

export function createLoopProgress({ name, logger, now = () => performance.now() }: LoopProgressOptions): LoopProgress {
  let succeededMs = 0;
  let nextPauseMs = 0;
  let logged: { isOutage: boolean; atMs: number } | undefined;
  let ends: (() => void)[] = [];
  const note = (pauseMs: number) => {
    succeededMs = now();
    nextPauseMs = pauseMs;
  };
  return {
    started: (pauseMs) => {
      note(pauseMs);
      ends = [
        observe(loopMetrics.lastSuccess, (tell) => tell((now() - succeededMs) / 1000, { loop: name })),
        observe(loopMetrics.pause, (tell) => tell(nextPauseMs / 1000, { loop: name })),
      ];
    },
    succeeded: (pauseMs) => {
      note(pauseMs);
      if (logged) logger.info({ poller: name }, 'background job succeeded again');
      logged = undefined;
    },
    failed: (error, failures, pauseMs) => {
      nextPauseMs = pauseMs;
      const outage = asOutage(error);
      const isOutage = outage !== undefined;
      if (logged?.isOutage === isOutage && now() - logged.atMs < REPEAT_LOG_MS) return;
      logged = { isOutage, atMs: now() };
      const facts = { err: outage?.cause ?? error, poller: name, failures };
      if (isOutage) logger.warn(facts, 'waiting for a store to come back');
      else logger.error(facts, 'background job failed');
    },
    stopped: () => ends.forEach((end) => end()),
  };
}
