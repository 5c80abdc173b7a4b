/** Ended streams whose cost counts for the next one. */
const REMEMBERED = 8;

/** What the next live stream is expected to cost, in cores, before anything is known of it. */
export interface TypicalCost {
  /** Adds the cost of a stream that has ended. */
  ended: (cores: number) => void;
  /** @param running costs of running streams; `first`: the cost assumed before any stream was measured */
  expected: (running: readonly number[], first: number) => number;
}

/** The lower median of running and recent streams: one expensive stream says nothing of the next. */
export function createTypicalCost(): TypicalCost {
  const recent: number[] = [];
  return {
    ended: (cores) => {
      recent.push(cores);
      if (recent.length > REMEMBERED) recent.shift();
    },
    expected: (running, first) => {
      const sorted = [first, ...recent, ...running].toSorted((a, b) => a - b);
      return sorted[Math.floor((sorted.length - 1) / 2)] ?? first;
    },
  };
}
