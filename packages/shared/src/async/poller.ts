import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { untraced } from '../telemetry/trace-context.ts';
import { asUnavailable } from '../unavailable.ts';
import { backoff } from './backoff.ts';
import { createBell } from './bell.ts';
import type { Bell } from './bell.ts';

export interface PollerOptions {
  /** For the log. */
  name: string;
  /** Pause after a round that found nothing to do; a function is asked after each. */
  intervalMs: number | (() => number);
  /**
   * One round; returns how many things it did. More than zero starts the next round at once. It is called outside any
   * trace: what a round does for one task continues that task's trace with `withStoredTrace`.
   */
  run: (signal: AbortSignal) => Promise<number>;
  logger: Logger;
  /** Longest pause after failures in a row. */
  maxBackoffMs?: number;
  /** Starts the next round when it rings; for work that has to wake the very poller that runs it. */
  bell?: Bell;
}

export interface Poller {
  start: () => void;
  /** Starts the next round now (a commit has made work). Cheap, may be called any number of times. */
  wake: () => void;
  /** Ends after the round that is running; aborts its signal at once. Nothing happens when it was never started. */
  stop: () => Promise<void>;
}

/** Runs `run` again and again, one round at a time; failures back off and never end the loop. */
export function createPoller(options: PollerOptions): Poller {
  const stopping = new AbortController();
  const bell = options.bell ?? createBell();
  let done: Promise<void> | undefined;
  return {
    start: () => {
      done ??= untraced(() => loop(options, stopping.signal, bell));
    },
    wake: bell.ring,
    stop: async () => {
      stopping.abort();
      bell.ring();
      await done;
    },
  };
}

async function loop(options: PollerOptions, signal: AbortSignal, bell: Bell): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let did = 0;
    try {
      did = await options.run(signal);
      failures = 0;
    } catch (error) {
      failures += 1;
      report(options, error, failures);
    }
    // A wake must not shorten the pause after a failure, or every commit would hit a store that is down.
    if (failures > 0)
      await delay(backoff(failures, options.maxBackoffMs ?? 10_000), undefined, { signal }).catch(() => undefined);
    else if (did === 0) await bell.wait(pauseOf(options));
  }
}

const pauseOf = ({ intervalMs }: PollerOptions) => (typeof intervalMs === 'number' ? intervalMs : intervalMs());

function report({ logger, name }: PollerOptions, error: unknown, failures: number): void {
  const unavailable = asUnavailable(error);
  if (!unavailable) logger.error({ err: error, poller: name, failures }, 'a round failed');
  else if (failures === 1)
    logger.warn({ err: unavailable.cause ?? unavailable, poller: name }, 'waiting for a store to come back');
}
