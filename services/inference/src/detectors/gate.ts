/** Every place is taken and the queue is full, or the wait was given up. */
export class GateFullError extends Error {
  override readonly name = 'GateFullError';
}

export interface Gate {
  /**
   * Runs `work` when a place is free, first come first served.
   * @throws GateFullError at once when the queue is full; the signal's reason when it fires before the work began.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Waiting and running together. */
  readonly load: number;
}

/** Bounds how much runs at once and how much may wait for it. */
export function createGate({ concurrency, queue }: { concurrency: number; queue: number }): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];

  const enter = (signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    if (running < concurrency) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.length >= queue) throw new GateFullError(`${running} running, ${waiting.length} waiting`);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.splice(waiting.indexOf(admit), 1);
        reject(signal?.reason as Error);
      };
      const admit = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      waiting.push(admit);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  };
  // A place passes straight to the next in line, so `running` falls only when nobody waits.
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };

  return {
    run: async (work, signal) => {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
    get load() {
      return running + waiting.length;
    },
  };
}
