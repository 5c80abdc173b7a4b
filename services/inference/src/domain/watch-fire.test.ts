import { expect, test } from '@jest/globals';
import type { DetectedObject } from '@vision/contracts/detection';
import { observeFire } from './observe-fire.ts';
import { createFireWatch } from './watch-fire.ts';
import type { FireWatch } from './watch-fire.ts';

/** Drawn for 320 × 180 pixels and filmed at half of that, to be quick. */
const SCALE = 0.5;
const [WIDTH, HEIGHT] = [320 * SCALE, 180 * SCALE];
const FPS = 5;
/** What a score has to reach here to count as found, and what it must not reach to count as nothing. */
const FOUND = 0.5;
const NOTHING = 0.3;

type Colour = readonly [number, number, number];
/** The colour of a pixel at a time, over what lies below it. */
type Paint = (x: number, y: number, time: number, below: Colour) => Colour;

/** Repeatable noise 0..1 at whole coordinates, and between them. */
function hash(x: number, y: number, z: number): number {
  const mixed = Math.imul(x * 374_761_393 + y * 668_265_263 + z * 69_069, 1_274_126_177);
  return (((mixed ^ (mixed >>> 15)) >>> 0) % 10_007) / 10_007;
}

function noise(x: number, y: number, z: number): number {
  const [left, top, front] = [Math.floor(x), Math.floor(y), Math.floor(z)];
  const ease = (t: number) => t * t * (3 - 2 * t);
  const [tx, ty, tz] = [ease(x - left), ease(y - top), ease(z - front)];
  const row = (v: number, w: number) => hash(left, v, w) * (1 - tx) + hash(left + 1, v, w) * tx;
  const plane = (w: number) => row(top, w) * (1 - ty) + row(top + 1, w) * ty;
  return plane(front) * (1 - tz) + plane(front + 1) * tz;
}

const turbulence = (x: number, y: number, z: number) => 0.65 * noise(x, y, z) + 0.35 * noise(2 * x + 9, 2 * y + 4, z);
const clamp = (value: number) => Math.min(1, Math.max(0, value));
const mix = (a: Colour, b: Colour, share: number): Colour => [
  a[0] * (1 - share) + b[0] * share,
  a[1] * (1 - share) + b[1] * share,
  a[2] * (1 - share) + b[2] * share,
];

/** A yard of gravel, drawn once. */
const ground: Colour[] = Array.from({ length: WIDTH * HEIGHT }, (_, pixel) => {
  const light = 0.7 + 0.5 * hash(pixel % WIDTH, Math.floor(pixel / WIDTH), 0);
  return [96 * light, 104 * light, 92 * light];
});

/** Burns at (160, 140), ten puffs a second. */
const flames: Paint = (x, y, time, below) => {
  if (Math.abs(x - 160) > 45 || y > 140 || y < 40) return below;
  const up = (140 - y) / 60;
  const side = (x - 160) / 24;
  const hot =
    1.15 - up - 0.6 * side * side + 1.5 * (turbulence(x / 12, (y + 600 * time) / 20, time * 10) - 0.5) * (0.35 + up);
  if (hot < 0.08) return below;
  const glow = clamp(hot * 1.1);
  const colour: Colour = [
    120 + 135 * clamp(glow * 1.8),
    255 * clamp(glow * 1.05 - 0.06),
    230 * clamp(glow * 1.9 - 1.05),
  ];
  return mix(below, colour, clamp(hot * 3));
};

const lampWith =
  (light: (time: number) => number): Paint =>
  (x, y, time, below) => {
    const distance = Math.hypot(x - 160, y - 90);
    const strength = light(time);
    const halo = mix(below, [255, 150, 30], 0.5 * strength * Math.exp(-((distance / 26) ** 2)));
    return distance < 12 ? [255 * (0.3 + 0.7 * strength), 160 * (0.3 + 0.7 * strength), 40] : halo;
  };

const redCar: Paint = (x, y, time, below) => {
  const left = 60 * time - 60;
  if (x < left || x > left + 60 || y < 90 || y > 120) return below;
  return y < 100 && (x - left) % 20 > 6 ? [70, 80, 95] : [230, 60 + 40 * hash(x, y, 3), 20];
};

/** Rises from (160, 170) from the first second on, wider and wider. */
const plume: Paint = (x, y, time, below) => {
  const age = time - 1;
  const [up, top] = [170 - y, Math.min(140, 22 * age)];
  if (age <= 0 || up < 0 || up > top) return below;
  const side = (x - 160) / (8 + 0.45 * up);
  const eddy = turbulence(x / 14, (y + 22 * age) / 14, age * 0.5);
  const thick = clamp(1.3 - side * side) * (0.4 + eddy) * clamp((top - up) / (0.3 * top));
  return mix(
    below,
    [190 * (0.75 + 0.5 * eddy), 190 * (0.75 + 0.5 * eddy), 194 * (0.75 + 0.5 * eddy)],
    0.9 * clamp(thick),
  );
};

const fog: Paint = (_x, y, time, below) => mix(below, [190, 190, 192], clamp((time / 20) * (0.6 + (0.4 * y) / 180)));

const passerBy: Paint = (x, y, time, below) =>
  Math.abs(x - 40 * time) < 14 && y > 70 && y < 150 ? [120, 122, 126] : below;

interface Shown {
  timeMs: number;
  objects: DetectedObject[];
}

/** What the watch says of every frame. The camera adds noise, so that no two frames are the same. */
function show(seconds: number, layers: readonly Paint[], watch: FireWatch = createFireWatch(), from = 0): Shown[] {
  return Array.from({ length: seconds * FPS }, (_, index) => {
    const time = from + index / FPS;
    const data = new Uint8ClampedArray(WIDTH * HEIGHT * 3);
    for (let y = 0; y < HEIGHT; y += 1) {
      for (let x = 0; x < WIDTH; x += 1) {
        let colour: Colour = ground[y * WIDTH + x] as Colour;
        for (const layer of layers) colour = layer(x / SCALE, y / SCALE, time, colour);
        const noise = 4 * (hash(x, y, 1000 + Math.round(time * FPS)) - 0.5);
        const at = (y * WIDTH + x) * 3;
        data[at] = colour[0] + noise;
        data[at + 1] = colour[1] + noise;
        data[at + 2] = colour[2] + noise;
      }
    }
    const seen = observeFire({ width: WIDTH, height: HEIGHT, data: new Uint8Array(data.buffer) });
    const timeMs = Math.round(time * 1000);
    return { timeMs, objects: watch.update(timeMs, seen, ['fire', 'smoke']) };
  });
}

const bestOf = (frames: readonly Shown[], label: string) =>
  Math.max(0, ...frames.flatMap(({ objects }) => objects.filter((o) => o.label === label).map(({ score }) => score)));
const firstOf = (frames: readonly Shown[], label: string) =>
  frames.find(({ objects }) => objects.some((o) => o.label === label && o.score >= FOUND))?.timeMs;

test('a flame is found within three seconds, and its score rises with the evidence', () => {
  const frames = show(4, [flames]);
  expect(firstOf(frames, 'fire')).toBeLessThanOrEqual(3000);
  expect(bestOf(frames.slice(0, 3), 'fire')).toBeLessThan(NOTHING);
  const box = frames.at(-1)?.objects[0]?.bbox;
  expect(Math.abs((box?.cx ?? 0) * 320 - 160)).toBeLessThan(15);
  expect((box?.cy ?? 0) * 180).toBeGreaterThan(70);
});

test.each<[string, Paint]>([
  ['a lamp that does not flicker', lampWith(() => 1)],
  ['a lamp that blinks', lampWith((time) => (time % 0.8 < 0.4 ? 1 : 0))],
  ['a beacon that turns', lampWith((time) => Math.max(0, Math.cos(12 * time)) ** 4)],
  ['a red car that drives through', redCar],
])('%s is no fire', (_case, layer) => {
  expect(bestOf(show(4, [layer]), 'fire')).toBeLessThan(NOTHING);
});

test('a smoke plume that grows is found within six seconds of its beginning', () => {
  const frames = show(8, [plume]);
  expect(firstOf(frames, 'smoke')).toBeLessThanOrEqual(7000);
  expect(bestOf(frames, 'fire')).toBe(0);
});

test.each<[string, Paint]>([
  ['fog that covers everything', fog],
  ['somebody in grey who walks by', passerBy],
  ['a light that is switched on', (_x, _y, time, [r, g, b]) => (time < 2 ? [r, g, b] : [r * 1.5, g * 1.5, b * 1.5])],
])('%s is no smoke', (_case, layer) => {
  expect(bestOf(show(8, [layer]), 'smoke')).toBeLessThan(NOTHING);
});

test('after a gap the evidence of before counts no more', () => {
  const watch = createFireWatch();
  expect(bestOf(show(4, [flames], watch), 'fire')).toBeGreaterThan(FOUND);
  expect(bestOf(show(1, [flames], watch, 60).slice(0, 2), 'fire')).toBeLessThan(NOTHING);
});

test('a source that comes back in another size is watched anew', () => {
  const watch = createFireWatch();
  show(2, [flames], watch);
  const small = observeFire({ width: 160, height: 90, data: new Uint8Array(160 * 90 * 3) });
  expect(watch.update(3000, small, ['fire', 'smoke'])).toEqual([]);
});

test('only the words that are asked for are returned', () => {
  const watch = createFireWatch();
  const picture = observeFire({ width: WIDTH, height: HEIGHT, data: new Uint8Array(WIDTH * HEIGHT * 3) });
  expect(watch.update(0, picture, ['smoke'])).toEqual([]);
});
