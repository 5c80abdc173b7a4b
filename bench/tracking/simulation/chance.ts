import { seeded } from '../../../test/faults/random.ts';

/** Random draws that follow from a seed. */
export interface Chance {
  /** Even in [0, 1). */
  even: () => number;
  between: (low: number, high: number) => number;
  /** Normally distributed with mean 0 and the standard deviation given. */
  normal: (deviation: number) => number;
  happens: (probability: number) => boolean;
}

export function createChance(seed: number): Chance {
  const even = seeded(seed);
  return {
    even,
    between: (low, high) => low + (high - low) * even(),
    // Box and Muller's transform.
    normal: (deviation) => deviation * Math.sqrt(-2 * Math.log(1 - even())) * Math.cos(2 * Math.PI * even()),
    happens: (probability) => even() < probability,
  };
}

/** A value that wanders around zero: it forgets itself over `memory` seconds and has the standard deviation given. */
export function createWander(chance: Chance, deviation: number, memory: number) {
  let value = chance.normal(deviation);
  return (seconds: number): number => {
    const keep = Math.exp(-seconds / memory);
    value = keep * value + chance.normal(deviation * Math.sqrt(1 - keep ** 2));
    return value;
  };
}
