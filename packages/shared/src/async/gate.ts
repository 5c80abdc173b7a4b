/** All slots are taken and the queue is full. */
export class GateFullError extends Error {
  override readonly name = 'GateFullError';
}

export interface GateOptions {
  /** Number of slots: pieces of work that run at once. */
  concurrency: number;
  /** Pieces of work that may wait for a slot; no limit if absent. */
  queue?: number;
  /**
   * Gives an owner a further slot only while more are free than it holds. One owner ends up with half of the slots, two
   * with a third each, and so on: some are left for the next owner, however long the others work.
   */
  leavesRoom?: boolean;
  /** Extra slots for owners that hold none: a new owner need not wait until another owner's work ends. */
  spare?: number;
}

/** The owner of waiting work, and the signal that ends the wait. */
export interface Turn {
  signal?: AbortSignal | undefined;
  /** Owners share the slots fairly, however much work each of them has. Work without an owner takes any free slot. */
  owner?: string | undefined;
}

export interface Gate {
  /**
   * Runs `work` when a slot is free. The waiting owner that has held slots for the least time comes next; an owner that
   * was idle gains no credit for it. Work of one owner runs in order of arrival.
   * @throws GateFullError at once when the queue is full; the signal's reason when it fires before the work began.
   */
  run: <T>(work: () => Promise<T>, turn?: Turn) => Promise<T>;
  /** Number of waiting and running pieces of work. */
  load: () => number;
  /** Resolves when nothing runs or waits, work that comes meanwhile included. */
  idle: () => Promise<void>;
}

/** Bounds how much runs at once and how much may wait for it. */
export function createGate(options: GateOptions): Gate {
  const line = new Line(options);
  const inside = new Set<Promise<unknown>>();
  const pass = async <T>(work: () => Promise<T>, turn: Turn): Promise<T> => {
    const share = await line.enter(turn);
    const from = performance.now();
    try {
      return await work();
    } finally {
      line.leave(share, performance.now() - from);
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

/** State of one owner. */
interface Share {
  owner: string | undefined;
  running: number;
  /** Each call admits one waiting piece of work. */
  waiting: (() => void)[];
  /** Time for which its work held slots, starting at the others' level when it arrived. */
  usedMs: number;
}

/** Idle owners are remembered while others have used less time; above this number they are forgotten. */
const MOST_REMEMBERED = 1_000;

/** The slots of a gate and its waiting owners, each of which holds as many as it may. */
class Line {
  readonly #options: Required<GateOptions>;
  readonly #shares = new Map<string | undefined, Share>();
  #running = 0;
  #waiting = 0;
  /** Time used by the owner admitted last: all owners waiting then had used at least as much. */
  #usedMs = 0;

  constructor({ concurrency, queue = Infinity, leavesRoom = false, spare = 0 }: GateOptions) {
    this.#options = { concurrency, queue, leavesRoom, spare };
  }

  async enter({ signal, owner }: Turn): Promise<Share> {
    signal?.throwIfAborted();
    const share = this.#shareOf(owner);
    if (this.#hasRoom(share)) {
      this.#take(share);
      return share;
    }
    if (this.#waiting >= this.#options.queue) {
      throw new GateFullError(`${this.#running} running, ${this.#waiting} waiting`);
    }
    const { promise, resolve: admit, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      // An owner admitted in the same moment has left the queue already and continues.
      const at = share.waiting.indexOf(admit);
      if (at !== -1) this.#waiting -= share.waiting.splice(at, 1).length;
      reject(signal?.reason);
    };
    share.waiting.push(admit);
    this.#waiting += 1;
    signal?.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
    return share;
  }

  leave(share: Share, tookMs: number): void {
    this.#running -= 1;
    share.running -= 1;
    share.usedMs += tookMs;
    while (this.#admitNext());
    this.#forget();
  }

  #shareOf(owner: string | undefined): Share {
    const share = this.#shares.get(owner) ?? { owner, running: 0, waiting: [], usedMs: 0 };
    if (isAway(share)) share.usedMs = Math.max(share.usedMs, this.#usedMs);
    this.#shares.set(owner, share);
    return share;
  }

  /** False when no waiting owner may hold another slot. */
  #admitNext(): boolean {
    let next: Share | undefined;
    for (const share of this.#shares.values()) {
      if (share.waiting.length === 0 || !this.#hasRoom(share)) continue;
      if (!next || share.usedMs < next.usedMs) next = share;
    }
    const admit = next?.waiting.shift();
    if (!next || !admit) return false;
    this.#waiting -= 1;
    this.#take(next);
    admit();
    return true;
  }

  #hasRoom({ owner, running }: Share): boolean {
    const { concurrency, leavesRoom, spare } = this.#options;
    const free = concurrency - this.#running;
    if (free > (leavesRoom && owner !== undefined ? running : 0)) return true;
    return owner !== undefined && running === 0 && free + spare > 0;
  }

  #take(share: Share): void {
    this.#usedMs = Math.max(this.#usedMs, share.usedMs);
    this.#running += 1;
    share.running += 1;
  }

  #forget(): void {
    const isCrowded = this.#shares.size > MOST_REMEMBERED;
    for (const share of this.#shares.values()) {
      const isEven = this.#running === 0 || share.usedMs <= this.#usedMs;
      if (isAway(share) && (isEven || isCrowded)) this.#shares.delete(share.owner);
    }
  }
}

const isAway = ({ running, waiting }: Share) => running === 0 && waiting.length === 0;
