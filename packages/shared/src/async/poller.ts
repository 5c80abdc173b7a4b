import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { untraced } from '../telemetry/trace-context.ts';
import { backoff } from './backoff.ts';
import { createWakeUp } from './wake-up.ts';
import type { WakeUp } from './wake-up.ts';
import { createLoopProgress } from './loop-progress.ts';
import type { LoopProgress } from './loop-progress.ts';

export interface PollerOptions {
  /** For the log and the gauges; two pollers of one process have two names. */
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
  /** Its `wake` starts the next round; for work that has to wake the very poller that runs it. */
  wakeUp?: WakeUp;
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
  const wakeUp = options.wakeUp ?? createWakeUp();
  let done: Promise<void> | undefined;
  return {
    start: () => {
      done ??= untraced(() => loop(options, stopping.signal, wakeUp));
    },
    wake: wakeUp.wake,
    stop: async () => {
      stopping.abort();
      wakeUp.wake();
      await done;
    },
  };
}

async function loop(options: PollerOptions, signal: AbortSignal, wakeUp: WakeUp): Promise<void> {
  const progress = createLoopProgress(options);
  progress.started(pauseOf(options));
  try {
    await repeat(options, { signal, wakeUp, progress });
  } finally {
    progress.stopped();
  }
}

interface LoopTools {
  signal: AbortSignal;
  wakeUp: WakeUp;
  progress: LoopProgress;
}

async function repeat(options: PollerOptions, { signal, wakeUp, progress }: LoopTools): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      const did = await options.run(signal);
      failures = 0;
      const pauseMs = pauseOf(options);
      progress.succeeded(pauseMs);
      if (did === 0) await wakeUp.wait(pauseMs);
    } catch (error) {
      failures += 1;
      const pauseMs = backoff(failures, { maxMs: options.maxBackoffMs ?? 10_000 });
      progress.failed(error, failures, pauseMs);
      // A wake must not shorten the pause after a failure, or every commit would hit a store that is down.
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

const pauseOf = ({ intervalMs }: PollerOptions) => (typeof intervalMs === 'number' ? intervalMs : intervalMs());
