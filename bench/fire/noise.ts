/** Numbers 0..1 that depend on nothing but the seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Between two bounds. */
export const between = (random: () => number, from: number, to: number): number => from + (to - from) * random();

export const clamp = (value: number): number => (value < 0 ? 0 : value > 1 ? 1 : value);

/** A repeatable value 0..1 for whole coordinates. */
export function hash(x: number, y: number, z: number): number {
  let mixed =
    Math.imul(x | 0, 374_761_393) + Math.imul(y | 0, 668_265_263) + Math.imul(z | 0, 2_147_483_647 - 1_640_531);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 1_274_126_177);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296;
}

const ease = (t: number) => t * t * (3 - 2 * t);
const mix = (a: number, b: number, share: number) => a + (b - a) * share;

/** Smooth noise 0..1 in three dimensions: values on a grid, blended. */
export function noise(x: number, y: number, z: number): number {
  const [left, top, front] = [Math.floor(x), Math.floor(y), Math.floor(z)];
  const [tx, ty, tz] = [ease(x - left), ease(y - top), ease(z - front)];
  const plane = (depth: number) =>
    mix(
      mix(hash(left, top, depth), hash(left + 1, top, depth), tx),
      mix(hash(left, top + 1, depth), hash(left + 1, top + 1, depth), tx),
      ty,
    );
  return mix(plane(front), plane(front + 1), tz);
}

/** Three octaves of noise, 0..1: turbulence. */
export function turbulence(x: number, y: number, z: number): number {
  return (
    0.55 * noise(x, y, z) +
    0.3 * noise(x * 2 + 17, y * 2 + 31, z * 1.7 + 5) +
    0.15 * noise(x * 4 + 71, y * 4 + 13, z * 2.6 + 9)
  );
}
