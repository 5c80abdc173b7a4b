import { disc, eachPixel, HEIGHT, lay, shine, WIDTH } from './canvas.ts';
import type { Canvas, Colour } from './canvas.ts';
import { AMBER, pick } from './disguise.ts';
import type { Disguise, Random } from './disguise.ts';
import { between, clamp, noise, turbulence } from './noise.ts';

function glow(canvas: Canvas, at: { x: number; y: number; radius: number }, colour: Colour, strength: number): void {
  const reach = at.radius * 4;
  eachPixel({ left: at.x - reach, top: at.y - reach, right: at.x + reach, bottom: at.y + reach }, (x, y, pixel) =>
    shine(canvas, pixel, colour, strength * Math.exp(-(((x - at.x) ** 2 + (y - at.y) ** 2) / (at.radius * 1.6) ** 2))),
  );
}

/** Lamps that burn steadily, or blink in the manner of signals and beacons. */
function lamps(random: Random, lit: (time: number) => number): Disguise {
  const all = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
    x: between(random, 20, 300),
    y: between(random, 20, 150),
    radius: between(random, 3, 14),
    colour: pick(random, AMBER),
  }));
  return (canvas, time) => {
    const strength = lit(time);
    for (const lamp of all) {
      disc(canvas, lamp, [
        lamp.colour[0] * (0.3 + 0.7 * strength),
        lamp.colour[1] * (0.25 + 0.75 * strength),
        lamp.colour[2] * (0.2 + 0.8 * strength),
      ]);
      glow(canvas, lamp, lamp.colour, 0.75 * strength);
    }
  };
}

export const steadyLamps = (random: Random) => lamps(random, () => 1);
export function blinkingLamps(random: Random): Disguise {
  const [rate, phase] = [between(random, 0.7, 2.2), random()];
  return lamps(random, (time) => ((time * rate + phase) % 1 < 0.5 ? 1 : 0));
}
export function beacons(random: Random): Disguise {
  const [rate, phase] = [between(random, 1.5, 2.8), random()];
  return lamps(random, (time) => Math.max(0, Math.cos(2 * Math.PI * (time * rate + phase))) ** 6);
}

/** Headlights that come nearer in the dark, and their reflections on a wet road. */
export function headlights(random: Random): Disguise {
  const cars = Array.from({ length: 3 }, () => ({
    start: random() * 9,
    lane: between(random, -60, 60),
    pace: between(random, 4, 9),
    colour: pick(random, AMBER),
  }));
  return (canvas, time) => {
    for (const { start, lane, pace, colour } of cars) {
      const way = ((time + start) % pace) / pace;
      const near = 0.08 + 0.92 * way ** 2;
      for (const side of [-1, 1]) {
        const lamp = { x: 160 + lane * near * 2.5 + side * 22 * near, y: 85 + 85 * near, radius: 1 + 7 * near };
        glow(canvas, lamp, colour, 0.9);
        disc(canvas, lamp, [255, 250, 225]);
      }
    }
  };
}

/** The sun going down behind slow clouds; over water its light glitters. */
export function sunset(random: Random): Disguise {
  const horizon = between(random, 80, 120);
  const sun = { x: between(random, 60, 260), y: horizon - between(random, 8, 40), radius: between(random, 8, 16) };
  const overWater = random() < 0.5;
  const seed = random() * 300;
  return (canvas, time) => {
    eachPixel({ left: 0, top: 0, right: WIDTH, bottom: horizon }, (x, y, pixel) => {
      const low = y / horizon;
      const cloud = clamp(2.2 * turbulence((x + 2.5 * time) / 60, y / 22, seed) - 0.9);
      const near = Math.exp(-Math.hypot(x - sun.x, y - sun.y) / 70);
      lay(
        canvas,
        pixel,
        [90 + 150 * low + 90 * near, 60 + 75 * low + 110 * near - 30 * cloud, 90 - 50 * low - 20 * cloud],
        1,
      );
    });
    disc(canvas, sun, [290, 240, 150]);
    if (!overWater) return;
    eachPixel({ left: 0, top: horizon, right: WIDTH, bottom: HEIGHT }, (x, y, pixel) => {
      const path = Math.exp(-(((x - sun.x) / (12 + (y - horizon) * 0.5)) ** 2));
      const wave = noise(x / 5, (y - horizon) / 1.6, time * 2.2 + seed);
      const light = clamp((wave - 0.45) * 3) * path;
      lay(canvas, pixel, [60 + 220 * light, 42 + 150 * light, 48 + 40 * light], 1);
    });
  };
}
