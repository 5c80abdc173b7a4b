import { eachPixel, lay } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import { between, clamp, turbulence } from './noise.ts';
import { coveredBox } from './truth.ts';
import type { Truth } from './truth.ts';

export interface Plume {
  x: number;
  y: number;
  /** Pixels a second, upwards and sideways. */
  rise: number;
  wind: number;
  /** Width at its foot, and pixels that it widens for each one it rises. */
  width: number;
  spread: number;
  begins: number;
  /** Highest it gets above its foot. */
  reach: number;
  grey: number;
  density: number;
  offset: number;
}

export function randomPlume(random: () => number, seconds: number): Plume {
  const isThere = random() < 0.25;
  return {
    x: between(random, 60, 260),
    y: between(random, 90, 175),
    rise: between(random, 8, 34),
    wind: between(random, -10, 10),
    width: between(random, 6, 24),
    spread: between(random, 0.25, 0.6),
    begins: isThere ? -30 : between(random, 2, seconds / 3),
    reach: between(random, 60, 150),
    grey: between(random, 70, 215),
    density: between(random, 0.8, 1.5),
    offset: between(random, 0, 900),
  };
}

/** Draws the plume as it is at this time: thin at its edges, uneven inside, carried upwards by its own noise. */
export function drawPlume(canvas: Canvas, plume: Plume, time: number): Truth[] {
  const age = time - plume.begins;
  if (age <= 0) return [];
  const top = Math.min(plume.reach, plume.rise * age);
  const lean = plume.wind / plume.rise;
  const half = plume.width / 2 + plume.spread * top;
  const seen = new Set<number>();
  const middle = plume.x + lean * top;
  const frame = {
    left: Math.min(plume.x, middle) - half * 1.6,
    top: plume.y - top * 1.2,
    right: Math.max(plume.x, middle) + half * 1.6,
    bottom: plume.y,
  };
  eachPixel(frame, (x, y, pixel) => {
    const up = plume.y - y;
    const wide = plume.width / 2 + plume.spread * up;
    const side = (x - plume.x - lean * up) / wide;
    const grain = 9 + 0.16 * up;
    const eddy = turbulence((x - lean * up) / 14 + plume.offset, (y + plume.rise * age) / 14, age * 0.5);
    const billow = 1 + 0.8 * (turbulence(x / grain, (y + plume.rise * age) / grain, age * 0.4 + plume.offset) - 0.5);
    const body = clamp(1.25 * billow - side * side) * clamp((top * 1.1 - up) / (0.35 * top + 4)) * clamp(up / 5 + 0.3);
    const thickness = plume.density * body * (0.35 + 1.1 * eddy) * (1 - 0.45 * (up / plume.reach));
    const opacity = 0.94 * (1 - Math.exp(-1.6 * Math.max(0, thickness)));
    if (opacity < 0.03) return;
    const shade = plume.grey * (0.75 + 0.5 * eddy);
    lay(canvas, pixel, [shade, shade * 1.005, shade * 1.02], opacity);
    if (opacity > 0.3) seen.add(pixel);
  });
  return coveredBox('smoke', seen, 350);
}
