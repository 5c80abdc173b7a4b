/** 0 below `from`, 1 above `to`, linear between; `from` above `to` turns it round. */
export const ramp = (value: number, from: number, to: number): number =>
  Math.min(1, Math.max(0, (value - from) / (to - from)));

/** Several pieces of evidence as one score: their geometric mean, so that one that is missing cannot be outvoted. */
export const combine = (...evidence: number[]): number =>
  evidence.reduce((product, value) => product * Math.max(value, 0), 1) ** (1 / evidence.length);

/** Mean and standard deviation of a plane over some of its pixels. */
export function statisticsOf(plane: Float32Array, pixels: readonly number[]): { mean: number; deviation: number } {
  let sum = 0;
  let squares = 0;
  for (const pixel of pixels) {
    const value = plane[pixel] as number;
    sum += value;
    squares += value * value;
  }
  const mean = sum / pixels.length;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / pixels.length - mean * mean)) };
}
