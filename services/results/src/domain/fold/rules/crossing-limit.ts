/**
 * Alarms of crossings in a minute of a task, over all its rules. They count by the times of frames, so frames that are
 * judged late or again raise the same alarms.
 */
export const CROSSINGS_A_MINUTE = 60;
const MINUTE_MS = 60_000;

/** Crossings that raised an alarm in one minute. Plain data: it is stored with the rules of a task. */
export interface MinuteOfCrossings {
  minute: number;
  count: number;
}

/** Counts the crossings of a task, and says when there are too many. */
export class CrossingLimit {
  #newest: MinuteOfCrossings | undefined;
  #leftOut = 0;

  /** @param newest where it goes on */
  constructor(newest?: MinuteOfCrossings) {
    this.#newest = newest && { ...newest };
  }

  /** The newest minute with a crossing; undefined before the first one. */
  get newest(): MinuteOfCrossings | undefined {
    return this.#newest && { ...this.#newest };
  }

  /** Crossings that raised no alarm. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Whether a crossing raises an alarm, for which it counts. */
  take(atMs: number): boolean {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (this.#newest?.minute !== minute) this.#newest = { minute, count: 0 };
    if (this.#newest.count < CROSSINGS_A_MINUTE) {
      this.#newest.count += 1;
      return true;
    }
    this.#leftOut += 1;
    return false;
  }
}
