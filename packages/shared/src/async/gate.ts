/** Every place is taken and the queue is full. */
export class GateFullError extends Error {
  override readonly name = 'GateFullError';
}

export interface GateOptions {
  /** Pieces of work that run at once. */
  concurrency: number;
  /** Pieces of work that may wait for a place; any number when left out. */
  queue?: number;
  /** Places that the work for one owner may hold; all of them when left out. */
  perOwner?: number;
}

/** On whose behalf work waits, and what ends the wait. */
export interface Turn {
  signal?: AbortSignal | undefined;
  /** Owners take turns, however much work each of them has. Work without an owner is not limited by `perOwner`. */
  owner?: string | undefined;
}

export interface Gate {
  /**
   * Runs `work` when a place is free: owner by owner, and first come first served for each of them.
   * @throws GateFullError at once when the queue is full; the signal's reason when it fires before the work began.
   */
  run: <T>(work: () => Promise<T>, turn?: Turn) => Promise<T>;
  /** Waiting and running together. */
  load: () => number;
  /** Resolves when nothing runs or waits, work that comes meanwhile included. */
  idle: () => Promise<void>;
}

/** Bounds how much runs at once and how much may wait for it. */
export function createGate(options: GateOptions): Gate {
  const line = new Line(options);
  const inside = new Set<Promise<unknown>>();
  const pass = async <T>(work: () => Promise<T>, turn: Turn): Promise<T> => {
    await line.enter(turn);
    try {
      return await work();
    } finally {
      line.leave(turn.owner);
    }
  };
  return {
    run: async (work, turn = {}) => {
      const passing = pass(work, turn);
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

/** The most that one owner may hold of some places: others find one free, or soon, whatever the owner's work takes. */
export const mostForOne = (places: number): number => Math.max(1, Math.floor(places * 0.75));

type Owner = string | undefined;

/** The places of a gate and whoever waits for one. While a place is free, all who wait hold what they may hold. */
class Line {
  readonly #options: Required<GateOptions>;
  #running = 0;
  readonly #runningOf = new Map<Owner, number>();
  /** In the order in which the owners have their turn. */
  readonly #waiting = new Map<Owner, (() => void)[]>();
  #waitingInAll = 0;

  constructor({ concurrency, queue = Infinity, perOwner = Infinity }: GateOptions) {
    this.#options = { concurrency, queue, perOwner };
  }

  async enter({ signal, owner }: Turn): Promise<void> {
    signal?.throwIfAborted();
    if (this.#running < this.#options.concurrency && this.#hasRoom(owner)) {
      this.#take(owner);
      return;
    }
    if (this.#waitingInAll >= this.#options.queue) {
      throw new GateFullError(`${this.#running} running, ${this.#waitingInAll} waiting`);
    }
    const { promise, resolve: admit, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      // Whoever was admitted in the same moment has left the queue already and goes on.
      this.#forget(owner, admit);
      reject(signal?.reason);
    };
    this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), admit]);
    this.#waitingInAll += 1;
    signal?.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  leave(owner: Owner): void {
    this.#running -= 1;
    const left = (this.#runningOf.get(owner) ?? 1) - 1;
    if (left === 0) this.#runningOf.delete(owner);
    else this.#runningOf.set(owner, left);
    for (const [next, [admit]] of this.#waiting) {
      if (!admit || !this.#hasRoom(next)) continue;
      this.#take(next);
      this.#forget(next, admit);
      this.#toTheEnd(next);
      admit();
      return;
    }
  }

  #toTheEnd(owner: Owner): void {
    const rest = this.#waiting.get(owner);
    if (!rest) return;
    this.#waiting.delete(owner);
    this.#waiting.set(owner, rest);
  }

  #hasRoom(owner: Owner): boolean {
    return owner === undefined || (this.#runningOf.get(owner) ?? 0) < this.#options.perOwner;
  }

  #take(owner: Owner): void {
    this.#running += 1;
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1);
  }

  #forget(owner: Owner, admit: () => void): void {
    const line = this.#waiting.get(owner) ?? [];
    const rest = line.filter((other) => other !== admit);
    if (rest.length === line.length) return;
    this.#waitingInAll -= 1;
    if (rest.length > 0) this.#waiting.set(owner, rest);
    else this.#waiting.delete(owner);
  }
}
