/**
 * Statements that servers work on. Answers arrive one at a time and in the order in which the statements were sent:
 * when a commit lets two go on, the faster connection must not decide which process learns of it first.
 */
export class Statements {
  #sent = 0;
  #running = 0;
  readonly #answered: { place: number; arrive: () => void }[] = [];

  /** Those that have no answer yet. */
  running(): number {
    return this.#running;
  }

  /** @param isHeld whether the answer waits for `deliver` */
  async run<T>(work: () => Promise<T>, isHeld: () => boolean): Promise<T> {
    const place = (this.#sent += 1);
    this.#running += 1;
    const statement = work().finally(() => (this.#running -= 1));
    await statement.catch(() => undefined);
    if (isHeld()) await new Promise<void>((arrive) => void this.#answered.push({ place, arrive }));
    return statement;
  }

  /** Lets the answer to the oldest statement arrive. Returns whether there was one. */
  deliver(): boolean {
    const first = this.#answered.sort((a, b) => a.place - b.place).shift();
    first?.arrive();
    return first !== undefined;
  }
}
