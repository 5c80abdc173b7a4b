import { eachPixel, HEIGHT, lay, rectangle, WIDTH } from './canvas.ts';
import type { Disguise, Random } from './disguise.ts';
import { between, clamp, hash, turbulence } from './noise.ts';

/** Fog that comes slowly, thicker below or in banks that drift. */
export function fog(random: Random): Disguise {
  const [seed, drift, grey, banks] = [random() * 400, between(random, 1, 6), between(random, 150, 215), random()];
  const [begins, takes] = [between(random, 0, 5), between(random, 15, 60)];
  return (canvas, time) => {
    const thick = 0.85 * clamp((time - begins) / takes);
    eachPixel({ left: 0, top: 0, right: WIDTH, bottom: HEIGHT }, (x, y, pixel) => {
      const bank = 1 - banks + banks * 2 * turbulence((x + drift * time) / 110, y / 50, seed + time * 0.01);
      lay(canvas, pixel, [grey, grey, grey * 1.01], clamp(thick * bank * (0.6 + (0.5 * y) / HEIGHT)));
    });
  };
}

/** Clouds that pass over the sky. */
export function clouds(random: Random): Disguise {
  const [seed, speed, horizon] = [
    random() * 400,
    between(random, 1, 9) * (random() < 0.5 ? -1 : 1),
    between(random, 50, 100),
  ];
  return (canvas, time) =>
    eachPixel({ left: 0, top: 0, right: WIDTH, bottom: horizon }, (x, y, pixel) => {
      const cloud = clamp(2.6 * turbulence((x + speed * time) / 45, y / 20, seed + time * 0.02) - 1);
      const grey = 175 + 60 * turbulence((x + speed * time) / 20, y / 12, seed);
      lay(canvas, pixel, [110 + y / 2, 150 + y / 3, 215], 1);
      lay(canvas, pixel, [grey, grey, grey * 1.01], cloud);
    });
}

/** Grey vans and people in grey: they pass, stop, and go on. */
export function greyTraffic(random: Random): Disguise {
  const things = Array.from({ length: 4 }, () => ({
    y: between(random, 80, 140),
    wide: between(random, 12, 80),
    high: between(random, 22, 50),
    grey: between(random, 60, 220),
    start: between(random, 0, 25),
    speed: between(random, 15, 90),
  }));
  return (canvas, time) => {
    for (const { y, wide, high, grey, start, speed } of things) {
      const gone = Math.max(0, time - start);
      const moved = gone < 3 ? gone : gone < 9 ? 3 : gone - 6;
      const x = -wide + speed * moved;
      rectangle(canvas, { left: x, top: y, right: x + wide, bottom: y + high }, [grey, grey, grey * 1.02]);
      rectangle(canvas, { left: x + wide * 0.1, top: y + high * 0.1, right: x + wide * 0.4, bottom: y + high * 0.4 }, [
        grey * 0.4,
        grey * 0.45,
        grey * 0.5,
      ]);
    }
  };
}

/** The light of the whole picture changes in steps, as when lamps are switched or a camera adjusts itself. */
export function lightSteps(random: Random): Disguise {
  const [every, seed] = [between(random, 2, 6), Math.floor(random() * 1000)];
  return (canvas, time) => {
    const light = 0.6 + 0.7 * hash(Math.floor(time / every), seed, 1);
    canvas.light.forEach((value, at) => (canvas.light[at] = value * light));
  };
}

/** The camera turns to and fro, or shakes. */
export function pans(random: Random): Disguise {
  const [reach, rate] =
    random() < 0.5
      ? [between(random, 20, 60), between(random, 0.03, 0.12)]
      : [between(random, 1, 4), between(random, 1, 3)];
  return (canvas, time) => {
    const shift = Math.round(reach * Math.sin(2 * Math.PI * rate * time));
    const before = canvas.light.slice();
    eachPixel({ left: 0, top: 0, right: WIDTH, bottom: HEIGHT }, (x, y, pixel) => {
      const from = y * WIDTH + Math.min(WIDTH - 1, Math.max(0, x + shift));
      canvas.light.set(before.subarray(from * 3, from * 3 + 3), pixel * 3);
    });
  };
}
