import { expect, test } from '@jest/globals';
import { timeChart } from './chart.ts';
import { laidOut, opened } from './lay.ts';
import type { DrawnPanel } from './panel.ts';
import { colourOf, written } from './values.ts';

const panel = (y: number, repeat?: string): DrawnPanel => ({
  type: 'timeseries',
  title: repeat ? `Calls to $${repeat}` : 'Calls',
  gridPos: { x: 0, y, w: 24, h: 8 },
  ...(repeat ? { repeat } : {}),
});

test('a repeated panel stands three in a row, and what follows moves down', () => {
  const placed = laidOut([panel(0, 'upstream'), panel(8)], { upstream: ['kafka', 'quota', 'redis', 's3'] });
  expect(placed.map(({ panel: { title, gridPos }, chosen }) => [title, gridPos.x, gridPos.y, chosen])).toEqual([
    ['Calls to kafka', 0, 0, { upstream: 'kafka' }],
    ['Calls to quota', 8, 0, { upstream: 'quota' }],
    ['Calls to redis', 16, 0, { upstream: 'redis' }],
    ['Calls to s3', 0, 8, { upstream: 's3' }],
    ['Calls', 0, 16, {}],
  ]);
});

test('the panels of a closed row are drawn below it, and what follows moves down', () => {
  const row = (y: number, title: string, panels: DrawnPanel[] = []): DrawnPanel => ({
    type: 'row',
    title,
    gridPos: { x: 0, y, w: 24, h: 1 },
    panels,
  });
  const all = opened([row(0, 'closed', [panel(1), panel(9)]), row(1, 'open'), panel(2)]);
  expect(all.map(({ title, gridPos }) => [title, gridPos.y])).toEqual([
    ['closed', 0],
    ['Calls', 1],
    ['Calls', 9],
    ['open', 17],
    ['Calls', 18],
  ]);
});

test.each([
  [0.0023, 's', '2.3 ms'],
  [300, 's', '5 min'],
  [0.25, 'percentunit', '25 %'],
  [2048, 'bytes', '2 KiB'],
  [1500, 'short', '1.5 K'],
  [Number.NaN, 's', '–'],
])('writes %d in %s as %s', (value, unit, expected) => {
  expect(written(value, unit)).toBe(expected);
});

test('a value has the colour of the last threshold that it reaches', () => {
  const steps = [
    { color: 'red', value: null },
    { color: 'orange', value: 0 },
    { color: 'green', value: 0.25 },
  ];
  const [low, middle, high] = [-1, 0.1, 0.9].map((value) => colourOf(value, steps));
  expect(new Set([low, middle, high]).size).toBe(3);
  expect(middle).toBe(colourOf(0, steps));
});

test('a line is broken where values are missing', () => {
  const span = { prometheus: '', from: 0, to: 100, stepSeconds: 10 };
  const points: [number, number][] = [0, 10, 20, 60, 70].map((at) => [at, 1]);
  const svg = timeChart(
    [{ name: 'a', labels: {}, points }],
    span,
    { width: 300, height: 100 },
    { unit: 's', isStacked: false, marks: [] },
  );
  expect(svg.match(/d="[^"]*"/)?.[0].match(/M/g)).toHaveLength(2);
});
