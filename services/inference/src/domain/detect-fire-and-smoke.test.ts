import { expect, test } from '@jest/globals';
import { detectFireAndSmoke } from './detect-fire-and-smoke.ts';
import type { RgbImage } from './rgb-image.ts';

const WIDTH = 320;
const HEIGHT = 240;
const labels = ['fire', 'smoke'];

type Colour = readonly [number, number, number];
type Paint = (x: number, y: number, below: Colour) => Colour;

/** A picture painted layer by layer; each layer sees what lies below it. */
function paint(...layers: Paint[]): RgbImage {
  const data = new Uint8Array(WIDTH * HEIGHT * 3);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      let colour: Colour = [0, 0, 0];
      for (const layer of layers) colour = layer(x, y, colour);
      const at = (y * WIDTH + x) * 3;
      data[at] = colour[0];
      data[at + 1] = colour[1];
      data[at + 2] = colour[2];
    }
  }
  return { width: WIDTH, height: HEIGHT, data };
}

/** Repeatable noise 0..1 at whole coordinates. */
function hash(x: number, y: number): number {
  const mixed = Math.imul(x * 374_761_393 + y * 668_265_263, 1_274_126_177);
  return (((mixed ^ (mixed >>> 15)) >>> 0) % 10_007) / 10_007;
}

/** Smooth noise: the hash at the corners of a grid, blended. */
function cloud(x: number, y: number, size: number): number {
  const [column, row] = [Math.floor(x / size), Math.floor(y / size)];
  const ease = (t: number) => t * t * (3 - 2 * t);
  const [tx, ty] = [ease(x / size - column), ease(y / size - row)];
  const top = hash(column, row) * (1 - tx) + hash(column + 1, row) * tx;
  const bottom = hash(column, row + 1) * (1 - tx) + hash(column + 1, row + 1) * tx;
  return top * (1 - ty) + bottom * ty;
}

const turbulence = (x: number, y: number, size: number) =>
  0.55 * cloud(x, y, size) + 0.3 * cloud(x + 91, y + 37, size / 2) + 0.15 * cloud(x + 13, y + 71, size / 4);
const mix = (a: Colour, b: Colour, share: number): Colour => [
  a[0] * (1 - share) + b[0] * share,
  a[1] * (1 - share) + b[1] * share,
  a[2] * (1 - share) + b[2] * share,
];
const clamp = (value: number) => Math.min(1, Math.max(0, value));

const grass: Paint = (x, y) => {
  const light = 0.7 + 0.6 * hash(x, y);
  return [45 * light, 90 * light, 35 * light];
};
const night: Paint = (x, y) => [12 + 8 * hash(x, y), 14 + 8 * hash(x, y), 24 + 8 * hash(x, y)];
const sky: Paint = (_x, y) => [90 + y / 4, 140 + y / 5, 215];

/** Flames rise from (160, 200): white-yellow at the root, orange, then red, in tongues. */
const flames: Paint = (x, y, below) => {
  if (Math.abs(x - 160) > 80 || y > 200 || y < 40) return below;
  const up = (200 - y) / 110;
  const side = Math.abs(x - 160) / 45;
  const heat = 1.25 - up - side * side + 0.9 * (turbulence(x, y * 0.6, 22) - 0.5);
  if (heat < 0.15) return below;
  const hot = clamp(heat / 1.1);
  return [140 + 115 * clamp(hot * 2), 250 * clamp(hot * 1.15 - 0.1), 190 * clamp(hot * 2.2 - 1.3)];
};

/** A plume above (160, 110), thinning out to its edges. */
const plume: Paint = (x, y, below) => {
  const distance = Math.hypot((x - 160) / 85, (y - 110) / 75);
  if (distance >= 1) return below;
  const density = clamp(1.5 * (1 - distance)) * 0.92;
  const grey = 95 + 120 * turbulence(x, y, 44);
  return mix(below, [grey, grey + 1, grey + 4], density);
};

const rectangle =
  (colour: Colour): Paint =>
  (x, y, below) =>
    x > 100 && x < 220 && y > 70 && y < 180 ? colour : below;

/** Whether the middle of a box lies within 25 pixels of a point. */
function isNear(box: { cx: number; cy: number } | undefined, x: number, y: number): boolean {
  return box !== undefined && Math.hypot(box.cx * WIDTH - x, box.cy * HEIGHT - y) < 25;
}

test.each([
  ['on grass', grass],
  ['at night', night],
  ['under a clear sky', sky],
])('flames %s are one object called fire around the flames', (_case, ground) => {
  const [first, ...rest] = detectFireAndSmoke({ image: paint(ground, flames), minScore: 0.4, labels });
  expect(first?.label).toBe('fire');
  expect(first?.score).toBeGreaterThan(0.7);
  expect(isNear(first?.bbox, 160, 145)).toBe(true);
  expect(first?.bbox.width).toBeGreaterThan(0.15);
  expect(rest).toEqual([]);
});

test.each([
  ['on grass', grass],
  ['under a clear sky', sky],
])('a plume %s is one object called smoke around the plume', (_case, ground) => {
  const [first, ...rest] = detectFireAndSmoke({ image: paint(ground, plume), minScore: 0.4, labels });
  expect(first?.label).toBe('smoke');
  expect(first?.score).toBeGreaterThan(0.5);
  expect(isNear(first?.bbox, 160, 110)).toBe(true);
  expect(rest).toEqual([]);
});

test('fire and smoke in one picture are both found', () => {
  const low: Paint = (x, y, below) => flames(x, y - 38, below);
  const high: Paint = (x, y, below) => plume(x, y + 40, below);
  const found = detectFireAndSmoke({ image: paint(grass, high, low), minScore: 0.4, labels });
  expect(found.map(({ label }) => label).sort()).toEqual(['fire', 'smoke']);
});

test.each<[string, Paint[]]>([
  ['an empty black picture', []],
  ['a grey wall', [() => [128, 128, 128]]],
  ['a clear sky', [sky]],
  [
    'an overcast sky above grass',
    [grass, (x, y, below) => (y < 120 ? [180 + y / 4, 182 + y / 4, 186 + y / 4] : below)],
  ],
  ['a red sign', [grass, rectangle([210, 20, 25])]],
  ['an orange tarpaulin', [grass, rectangle([250, 130, 10])]],
  ['a yellow van', [grass, rectangle([250, 215, 20])]],
  ['a wooden door', [grass, rectangle([160, 100, 60])]],
  ['a concrete block', [grass, rectangle([150, 150, 150])]],
  ['grey noise', [(x, y) => [hash(x, y) * 255, hash(x, y) * 255, hash(x, y) * 255]]],
])('%s holds neither fire nor smoke', (_case, layers) => {
  expect(detectFireAndSmoke({ image: paint(...layers), minScore: 0.4, labels })).toEqual([]);
});

test('only the words that are asked for are returned', () => {
  const image = paint(grass, flames);
  expect(detectFireAndSmoke({ image, minScore: 0, labels: ['smoke'] }).every(({ label }) => label === 'smoke')).toBe(
    true,
  );
  expect(detectFireAndSmoke({ image, minScore: 0.99, labels })).toEqual([]);
});
