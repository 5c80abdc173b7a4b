import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { untraced } from '../telemetry/trace-context.ts';
import { asUnavailable } from '../unavailable.ts';

export interface PollerOptions {
  /** For the log. */
  name: string;
  /** Pause after a round that found nothing to do. */
  intervalMs: number;
  /**
   * One round; returns how many things it did. More than zero starts the next round at once. It is called outside any trace:
   * what a round does for one task continues that task's trace with `withStoredTrace`.
   */
  run: (signal: AbortSignal) => Promise<number>;
  logger: Logger;
  /** Longest pause after failures in a row. */
  maxBackoffMs?: number;
}

export interface Poller {
  /** Starts the next round now (a commit has made work). Cheap, may be called any number of times. */
  wake: () => void;
  /** Ends after the round that is running; aborts its signal at once. */
  stop: () => Promise<void>;
}

/** Runs `run` again and again, one round at a time; failures back off and never end the loop. */
export function startPoller(options: PollerOptions): Poller {
  const stopping = new AbortController();
  const bell = createBell();
  const done = untraced(() => loop(options, stopping.signal, bell));
  return {
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
    else if (did === 0) await bell.wait(options.intervalMs);
  }
}

function report({ logger, name }: PollerOptions, error: unknown, failures: number): void {
  const unavailable = asUnavailable(error);
  if (!unavailable) logger.error({ err: error, poller: name, failures }, 'a round failed');
  else if (failures === 1)
    logger.warn({ err: unavailable.cause ?? unavailable, poller: name }, 'waiting for a store to come back');
}

/** 100 ms · 2ⁿ up to the maximum, with jitter over its upper half. */
export function backoff(failures: number, maxMs: number): number {
  const ceiling = Math.min(maxMs, 100 * 2 ** Math.min(failures, 16));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

interface Bell {
  ring: () => void;
  wait: (ms: number) => Promise<void>;
}

/** A ring while nobody waits is remembered, so a wake between "found nothing" and "wait" is not lost. */
function createBell(): Bell {
  let rung = false;
  let release: (() => void) | undefined;
  return {
    ring: () => {
      rung = true;
      release?.();
    },
    wait: async (ms) => {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          release = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
      release = undefined;
    },
  };
}
