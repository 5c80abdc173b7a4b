/**
 * Alarms in a minute of a task, of all its rules. They are counted by the times of frames, so a late or repeated
 * evaluation raises the same alarms.
 */
export const CROSSINGS_A_MINUTE = 60;
/** The same for conditions that hold for a time: more than 200 rules with the default interval can raise. */
export const LEVELS_A_MINUTE = 300;

const MINUTE_MS = 60_000;

/** Alarms that were raised in one minute. Plain data: it is stored with the rules of a task. */
export interface MinuteCount {
  minute: number;
  count: number;
}

/** Counts the alarms of a task, and reports when there are too many. */
export class MinuteLimit {
  readonly #most: number;
  #newest: MinuteCount | undefined;
  #leftOut = 0;

  /** @param newest where it goes on */
  constructor(most: number, newest?: MinuteCount) {
    this.#most = most;
    this.#newest = newest && { ...newest };
  }

  /** The newest minute with an alarm; undefined before the first one. */
  get newest(): MinuteCount | undefined {
    return this.#newest && { ...this.#newest };
  }

  /** Number of alarms above the limit. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Whether an alarm may be raised; counts it if so. */
  take(atMs: number): boolean {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (this.#newest?.minute !== minute) this.#newest = { minute, count: 0 };
    if (this.#newest.count < this.#most) {
      this.#newest.count += 1;
      return true;
    }
    this.#leftOut += 1;
    return false;
  }
}
