interface Running {
  /** Takes it back from its server, where that is possible. */
  withdraw: (() => Promise<void>) | undefined;
  isWithdrawn: boolean;
}

/**
 * Statements that servers work on. Answers arrive one at a time and in the order in which the statements were sent:
 * when a commit lets two go on, the faster connection must not decide which process learns of it first. Nor may two
 * wait for one row: PostgreSQL lets them run for it when it is free.
 */
export class Statements {
  #sent = 0;
  readonly #running = new Set<Running>();
  readonly #answered: { place: number; arrive: () => void }[] = [];
  readonly #waiting: (() => void)[] = [];

  /** Those that have no answer yet. */
  running(): number {
    return this.#running.size;
  }

  isIdle(): boolean {
    return this.#running.size + this.#answered.length + this.#waiting.length === 0;
  }

  /** @param isHeld whether the answer waits for `deliver` */
  async run<T>(work: () => Promise<T>, isHeld: () => boolean, withdraw?: () => Promise<void>): Promise<T> {
    const place = (this.#sent += 1);
    const entry: Running = { withdraw, isWithdrawn: false };
    this.#running.add(entry);
    const statement = work().finally(() => this.#running.delete(entry));
    await statement.catch(() => undefined);
    if (isHeld()) await new Promise<void>((arrive) => void this.#answered.push({ place, arrive }));
    return statement;
  }

  /** Takes back the last one, when all of several wait for locks. Returns whether one is being taken back. */
  async withdraw(): Promise<boolean> {
    const running = [...this.#running];
    // Its server learns of it in a moment.
    if (running.some(({ isWithdrawn }) => isWithdrawn)) return true;
    const last = running.findLast(({ withdraw }) => withdraw);
    if (running.length < 2 || !last?.withdraw) return false;
    last.isWithdrawn = true;
    await last.withdraw();
    return true;
  }

  /** Resolves when no server works on a statement: the next one to be sent again after it was withdrawn. */
  async turnToSendAgain(): Promise<void> {
    await new Promise<void>((go) => void this.#waiting.push(go));
  }

  /** Lets the answer to the oldest statement arrive, or the next one be sent again. Returns whether there was one. */
  deliver(): boolean {
    const first = this.#answered.sort((a, b) => a.place - b.place).shift();
    const next = first?.arrive ?? (this.#running.size === 0 ? this.#waiting.shift() : undefined);
    next?.();
    return next !== undefined;
  }
}
