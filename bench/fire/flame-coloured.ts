import { disc, eachPixel, lay, rectangle } from './canvas.ts';
import type { Colour } from './canvas.ts';
import { AMBER, pick } from './disguise.ts';
import type { Disguise, Random } from './disguise.ts';
import { between, noise, turbulence } from './noise.ts';

/** Cars in the colours of flames that drive through, and stop at times. */
export function redCars(random: Random): Disguise {
  const cars = Array.from({ length: 3 }, () => ({
    y: between(random, 90, 150),
    size: between(random, 24, 70),
    speed: between(random, 25, 140) * (random() < 0.5 ? 1 : -1),
    colour: pick(random, [...AMBER, [205, 25, 20] as Colour]),
    start: between(random, 0, 600),
  }));
  return (canvas, time) => {
    for (const { y, size, speed, colour, start } of cars) {
      const x = ((((start + speed * time) % 500) + 500) % 500) - 90;
      rectangle(canvas, { left: x, top: y, right: x + size, bottom: y + size * 0.3 }, colour);
      rectangle(canvas, { left: x + size * 0.2, top: y - size * 0.16, right: x + size * 0.75, bottom: y }, [
        colour[0] * 0.85,
        colour[1] * 0.8,
        colour[2] * 0.8,
      ]);
      rectangle(
        canvas,
        { left: x + size * 0.26, top: y - size * 0.12, right: x + size * 0.68, bottom: y - 1 },
        [70, 85, 100],
      );
      for (const wheel of [0.22, 0.78])
        disc(canvas, { x: x + size * wheel, y: y + size * 0.3, radius: size * 0.09 }, [25, 25, 28]);
    }
  };
}

/** People in vests who walk or work: the vest swings, and is cut by stripes and arms. */
export function vests(random: Random): Disguise {
  const people = Array.from({ length: 3 }, () => ({
    x: between(random, 30, 290),
    y: between(random, 90, 150),
    size: between(random, 14, 42),
    speed: random() < 0.5 ? 0 : between(random, -20, 20),
    colour: pick(random, [
      [255, 110, 20],
      [250, 140, 30],
      [235, 225, 40],
    ] as Colour[]),
    pace: between(random, 1, 2.2),
  }));
  return (canvas, time) => {
    for (const { x, y, size, speed, colour, pace } of people) {
      const at = ((((x + speed * time) % 340) + 340) % 340) - 10 + size * 0.06 * Math.sin(2 * Math.PI * pace * time);
      const swing = size * 0.22 * Math.sin(2 * Math.PI * pace * time);
      rectangle(
        canvas,
        { left: at - size * 0.2, top: y + size * 0.5, right: at + size * 0.2, bottom: y + size * 1.2 },
        [40, 45, 60],
      );
      rectangle(
        canvas,
        { left: at - size * 0.3, top: y - size * 0.3, right: at + size * 0.3, bottom: y + size * 0.5 },
        colour,
      );
      rectangle(
        canvas,
        { left: at - size * 0.3, top: y + size * 0.05, right: at + size * 0.3, bottom: y + size * 0.15 },
        [215, 218, 220],
      );
      rectangle(
        canvas,
        {
          left: at - size * 0.42 + swing,
          top: y - size * 0.2,
          right: at - size * 0.26 + swing,
          bottom: y + size * 0.45,
        },
        colour,
      );
      disc(canvas, { x: at, y: y - size * 0.45, radius: size * 0.16 }, [205, 160, 130]);
    }
  };
}

/** Leaves in autumn, moved by wind: each branch a little, and its light with it. */
export function autumn(random: Random): Disguise {
  const crowns = Array.from({ length: 3 }, () => ({
    x: between(random, 20, 300),
    y: between(random, 30, 100),
    radius: between(random, 22, 55),
    seed: random() * 500,
  }));
  const wind = between(random, 0.5, 3);
  return (canvas, time) => {
    for (const { x: cx, y: cy, radius, seed } of crowns) {
      eachPixel({ left: cx - radius, top: cy - radius, right: cx + radius, bottom: cy + radius }, (x, y, pixel) => {
        const sway = wind * (noise(x / 30, time * 1.1, seed) - 0.5) * 2;
        const leaf = turbulence((x + sway) / 4 + seed, (y + sway * 0.4) / 4, 1);
        if (Math.hypot(x - cx, y - cy) / radius > 0.7 + 0.5 * turbulence(x / 12, y / 12, seed)) return;
        const light = 0.45 + 1.1 * leaf + 0.1 * (noise(x / 8, y / 8, time * 2 + seed) - 0.5);
        lay(
          canvas,
          pixel,
          leaf > 0.55 ? [225 * light, 120 * light, 25 * light] : [190 * light, 75 * light, 25 * light],
          0.95,
        );
      });
    }
  };
}

/** A flag in the colours of flames in the wind. */
export function flag(random: Random): Disguise {
  const [left, top, size, rate] = [
    between(random, 40, 220),
    between(random, 20, 90),
    between(random, 25, 60),
    between(random, 0.8, 2),
  ];
  const colour = pick(random, AMBER);
  return (canvas, time) => {
    rectangle(canvas, { left: left - 2, top, right: left, bottom: 170 }, [140, 140, 145]);
    eachPixel({ left, top: top - 12, right: left + size, bottom: top + size * 0.6 + 12 }, (x, y, pixel) => {
      const along = (x - left) / size;
      const fold = Math.sin(2 * Math.PI * (1.3 * along - rate * time));
      const from = top + 6 * along * fold;
      if (y < from || y > from + size * 0.6) return;
      const light = 0.85 + 0.2 * Math.cos(2 * Math.PI * (1.3 * along - rate * time));
      lay(canvas, pixel, [colour[0] * light, colour[1] * light, colour[2] * light], 1);
    });
  };
}
