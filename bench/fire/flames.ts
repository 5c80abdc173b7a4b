import { eachPixel, lay } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import { between, clamp, turbulence } from './noise.ts';
import { coveredBox } from './truth.ts';
import type { Truth } from './truth.ts';

export interface Flame {
  x: number;
  /** The ground it burns on. */
  y: number;
  /** Width at its full size. */
  width: number;
  height: number;
  /** Puffs a second. */
  rate: number;
  /** Seconds at which it begins, and that it takes to its full size. */
  begins: number;
  grows: number;
  sway: number;
  /** How far towards yellow and white, 0..1. */
  heat: number;
  offset: number;
}

/**
 * A flame of a random size. The rate of its puffs is 1.5 / √D for a base of D metres (B. M. Cetegen and T. A. Ahmed,
 * Combustion and Flame 93, 1993): 1 to 15 Hz here.
 */
export function randomFlame(random: () => number, seconds: number): Flame {
  const width = 8 * 2 ** between(random, 0, 3.2);
  const metres = (width * between(random, 0.4, 4)) / 100;
  const isBurning = random() < 0.4;
  return {
    x: between(random, 50, 270),
    y: between(random, 100, 170),
    width,
    height: width * between(random, 1.2, 2.4),
    rate: Math.min(15, 1.5 / Math.sqrt(metres)),
    begins: isBurning ? -20 : between(random, 2, seconds / 3),
    grows: between(random, 1, 6),
    sway: between(random, -0.6, 0.6),
    heat: between(random, 0.55, 1),
    offset: between(random, 0, 900),
  };
}

/** Draws the flame as it is at this time, from dark red over orange to nearly white, and says where it is. */
export function drawFlame(canvas: Canvas, flame: Flame, time: number): Truth[] {
  const age = (time - flame.begins) / flame.grows;
  if (age <= 0) return [];
  const size = 0.25 + 0.75 * Math.min(1, age);
  const [width, height] = [flame.width * size, flame.height * size];
  const puff = 1 + 0.18 * Math.sin(2 * Math.PI * flame.rate * time + flame.offset);
  const grain = Math.max(4, width / 2.2);
  const seen = new Set<number>();
  const frame = {
    left: flame.x - width * 1.5,
    top: flame.y - height * 1.9,
    right: flame.x + width * 1.5,
    bottom: flame.y,
  };
  eachPixel(frame, (x, y, pixel) => {
    const up = (flame.y - y) / (height * puff);
    const lean = flame.sway * up * width * (0.5 + 0.5 * Math.sin(time * 1.9 + flame.offset));
    const side = (x - flame.x - lean) / (width * 0.5 * (1.05 - 0.55 * Math.min(1, up)));
    // Structures rise through the whole height within one puff and change on their way.
    const eddy = turbulence(
      x / grain + flame.offset,
      (y + height * flame.rate * time) / (grain * 1.7),
      time * flame.rate,
    );
    const hot = 1.15 - up - 0.6 * side * side + 1.5 * (eddy - 0.5) * Math.min(1, 0.35 + up);
    if (hot < 0.08) return;
    const glow = clamp(hot * flame.heat * 1.25);
    const opacity = clamp(hot * 3.2);
    lay(
      canvas,
      pixel,
      [120 + 190 * clamp(glow * 1.8), 290 * clamp(glow * 1.05 - 0.06), 230 * clamp(glow * 1.9 - 1.05)],
      opacity,
    );
    if (opacity > 0.4) seen.add(pixel);
  });
  return coveredBox('fire', seen, 25);
}
