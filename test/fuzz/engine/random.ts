/** Numbers that follow from a seed (mulberry32). */
export interface Random {
  /** 0 to `limit` - 1. */
  below: (limit: number) => number;
  pick: <T>(of: readonly T[]) => T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => (limit <= 1 ? 0 : next() % limit);
  return {
    below,
    pick: <T>(of: readonly T[]): T => {
      const picked = of[below(of.length)];
      // Only an empty list has nothing, and nobody picks from one.
      return picked as T;
    },
  };
}
