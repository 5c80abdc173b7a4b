import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { containment, contains, parseRegion, pointInImage, regionOf } from './region.ts';

type Point = [x: number, y: number];

const refused = expect.objectContaining({ details: expect.objectContaining({ field: 'region' }) });
const regular = (corners: number): string =>
  Array.from({ length: corners }, (_, at) => {
    const angle = (2 * Math.PI * at) / corners;
    return `${0.5 + 0.4 * Math.cos(angle)},${0.5 + 0.4 * Math.sin(angle)}`;
  }).join();

test.each(['0,0,1,0,0.5,1', '.1,.1,.9,.1,.9,.9,.5,.3', '0,0,1,0,1,1,0,1', '1e-1,0,1,0,1,1', regular(16)])(
  '%s is a region',
  (text) => {
    expect(() => parseRegion(text)).not.toThrow();
  },
);

test.each([
  ['two corners', '0,0,1,1'],
  ['17 corners', regular(17)],
  ['half a corner', '0,0,1,0,1'],
  ['no corner', ''],
  ['a coordinate beyond the image', '0,0,1.01,0,1,1'],
  ['a negative coordinate', '-0.1,0,1,0,1,1'],
  ['no number', '0,0,NaN,0,1,1'],
  ['an infinite number', '0,0,1e999,0,1,1'],
  ['an empty coordinate', '0,0,,0,1,1'],
  ['a blank', '0,0, 1,0,1,1'],
  ['edges that cross', '0,0,1,1,1,0,0,1'],
  ['edges that touch', '0,0,1,0,0.5,0.5,1,1,0,1,0.5,0.5'],
  ['a corner on another edge', '0,0,1,0,1,1,0.5,0,0,1'],
  ['an edge that goes back', '0,0,1,0,0.5,0,0.5,1'],
  ['no area', '0,0,0.5,0.5,1,1'],
  ['a doubled corner', '0,0,0,0,1,0,1,1'],
  ['a corner that comes again at the end', '0,0,1,0,1,1,0,0'],
])('%s is refused', (_name, text) => {
  expect(() => parseRegion(text)).toThrow(refused);
});

const coordinate = fc.integer({ min: 0, max: 1000 }).map((step) => step / 1000);
const point = fc.tuple(coordinate, coordinate);

test('of two regions that share an edge exactly one contains a point on it', () => {
  // A line from the top to the bottom of the image over a corner between them.
  const cut = fc.tuple(coordinate, point, coordinate).filter(([, [, y]]) => y > 0 && y < 1);
  fc.assert(
    fc.property(cut, point, fc.boolean(), ([top, middle, bottom], anyPoint, isOnCorner) => {
      fc.pre(top > 0 && top < 1 && bottom > 0 && bottom < 1 && middle[0] > 0 && middle[0] < 1);
      const line: Point[] = [[top, 0], middle, [bottom, 1]];
      const left = regionOf([[0, 0], ...line, [0, 1]]);
      const right = regionOf([[1, 1], ...line.toReversed(), [1, 0]]);
      const [x, y] = isOnCorner ? middle : anyPoint;
      expect([contains(left, x, y), contains(right, x, y)].filter(Boolean)).toHaveLength(1);
    }),
    { numRuns: 2000 },
  );
});

test('a point on the border of the image lies in a region that reaches the border', () => {
  const whole = parseRegion('0,0,1,0,1,1,0,1');
  fc.assert(fc.property(point, ([x, y]) => contains(whole, x, y)));
  expect([contains(whole, 1, 1), contains(whole, 0.5, 1), contains(whole, 1.0000001, 1)]).toEqual([true, true, true]);
});

test('direction and first corner of a region do not matter', () => {
  const corners: Point[] = [
    [0.1, 0.2],
    [0.9, 0.1],
    [0.8, 0.9],
    [0.5, 0.4],
    [0.2, 0.8],
  ];
  const turned = [...corners.slice(2), ...corners.slice(0, 2)];
  fc.assert(
    fc.property(point, ([x, y]) => {
      const answers = [corners, corners.toReversed(), turned].map((one) => contains(regionOf(one), x, y));
      expect(new Set(answers).size).toBe(1);
    }),
  );
});

test('a notch does not belong to the region around it', () => {
  const region = parseRegion('0,0,1,0,1,1,0.5,0.2,0,1');
  expect([contains(region, 0.5, 0.5), contains(region, 0.5, 0.1), contains(region, 0.9, 0.5)]).toEqual([
    false,
    true,
    true,
  ]);
});

test('a region that is asked again and again gives the same answers', () => {
  // Corners around a centre in the order of their angles make a star, whose edges do not cross.
  const star = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 359 }), fc.integer({ min: 1, max: 50 })), { minLength: 3, maxLength: 16 })
    .map((corners) =>
      corners
        .toSorted(([a], [b]) => a - b)
        .map(([degrees, length]): Point => {
          const angle = (degrees * Math.PI) / 180;
          return [0.5 + (length / 100) * Math.cos(angle), 0.5 + (length / 100) * Math.sin(angle)];
        }),
    );
  const box = fc.tuple(coordinate, coordinate, coordinate, coordinate).map(([a, b, c, d]): Point[] => {
    const [left, right, top, bottom] = [Math.min(a, b), Math.max(a, b), Math.min(c, d), Math.max(c, d)];
    return [
      [left, top],
      [right, top],
      [right, bottom],
      [left, bottom],
    ];
  });
  const anyPoint = fc.tuple(
    fc.double({ min: -0.2, max: 1.2, noNaN: true }),
    fc.double({ min: 0, max: 1, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.oneof(star, box), fc.array(fc.oneof(point, anyPoint)), (corners, points) => {
      const region = regionIfValid(corners);
      fc.pre(region !== undefined);
      const isInside = containment(region);
      // Corners and edges as well.
      for (const [x, y] of [...points, ...corners, ...corners.map(([cx]): Point => [cx, 0.5])]) {
        const inImage = pointInImage(x, y);
        expect(isInside(inImage.x, inImage.y)).toBe(contains(region, x, y));
      }
    }),
    { numRuns: 2000 },
  );
});

function regionIfValid(corners: Point[]) {
  try {
    return regionOf(corners);
  } catch {
    return undefined;
  }
}
