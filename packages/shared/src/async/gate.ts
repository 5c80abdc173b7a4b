/** Every place is taken and the queue is full. */
export class GateFullError extends Error {
  override readonly name = 'GateFullError';
}

export interface GateOptions {
  /** Pieces of work that run at once. */
  concurrency: number;
  /** Pieces of work that may wait for a place; any number when left out. */
  queue?: number;
}

export interface Gate {
  /**
   * Runs `work` when a place is free, first come first served.
   * @throws GateFullError at once when the queue is full; the signal's reason when it fires before the work began.
   */
  run: <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** Waiting and running together. */
  load: () => number;
  /** Resolves when nothing runs or waits, work that comes meanwhile included. */
  idle: () => Promise<void>;
}

/** Bounds how much runs at once and how much may wait for it. */
export function createGate({ concurrency, queue = Infinity }: GateOptions): Gate {
  const line = createLine(concurrency, queue);
  const inside = new Set<Promise<unknown>>();
  const pass = async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    await line.enter(signal);
    try {
      return await work();
    } finally {
      line.leave();
    }
  };
  return {
    run: async (work, signal) => {
      const passing = pass(work, signal);
      inside.add(passing);
      try {
        return await passing;
      } finally {
        inside.delete(passing);
      }
    },
    load: () => inside.size,
    idle: async () => {
      while (inside.size > 0) await Promise.allSettled(inside);
    },
  };
}

/** The places of a gate and whoever waits for one. */
function createLine(concurrency: number, queue: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    enter: async (signal?: AbortSignal) => {
      signal?.throwIfAborted();
      if (running < concurrency) {
        running += 1;
        return;
      }
      if (waiting.length >= queue) throw new GateFullError(`${running} running, ${waiting.length} waiting`);
      const { promise, resolve: admit, reject } = Promise.withResolvers<void>();
      const giveUp = () => {
        // Whoever was admitted in the same moment has left the queue already and goes on.
        const place = waiting.indexOf(admit);
        if (place >= 0) waiting.splice(place, 1);
        reject(signal?.reason);
      };
      waiting.push(admit);
      signal?.addEventListener('abort', giveUp, { once: true });
      await promise.finally(() => signal?.removeEventListener('abort', giveUp));
    },
    // A place passes straight to the next in line, so `running` falls only when nobody waits.
    leave: () => {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    },
  };
}
