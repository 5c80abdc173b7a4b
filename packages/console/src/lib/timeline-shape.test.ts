import { expect, test } from '@jest/globals';
import { columnsOf, contentAt, momentAt, pathOf, rangeOf, xOf } from './timeline-shape.ts';
import type { Timeline } from './timeline-shape.ts';

const bucket = (from_ms: number, most: Record<string, number>) => ({
  from_ms,
  covered_ms: 1000,
  frames: 5,
  labels: Object.entries(most).map(([label, objects_max]) => ({
    label,
    tracks_begun: 1,
    objects_max,
    object_frames: 5,
  })),
});
const timeline: Timeline = {
  bucket_ms: 1000,
  min_score: 0.5,
  as_of_ms: 9_000,
  coverage: { from_ms: 0, to_ms: 10_000, covered_ms: 8_000, gaps: 1 },
  items: [bucket(0, { person: 2, car: 1 }), bucket(5000, { car: 4 })],
  gaps: [{ from_ms: 2000, to_ms: 4000, reason: 'source_away' }],
};

test('columns stand where their buckets are, and count the labels that are shown', () => {
  expect(columnsOf(timeline, new Set())).toEqual([
    { x: 0, width: 100, objects: 3 },
    { x: 500, width: 100, objects: 4 },
  ]);
  expect(columnsOf(timeline, new Set(['car']))).toEqual([{ x: 0, width: 100, objects: 2 }]);
});

test('a long timeline has at most 250 columns, each as high as its highest bucket', () => {
  const items = Array.from({ length: 2500 }, (_, index) => bucket(index * 1000, { car: index === 7 ? 9 : 1 }));
  const long = { ...timeline, coverage: { ...timeline.coverage, to_ms: 2_500_000 }, items };
  const columns = columnsOf(long, new Set());
  expect(columns).toHaveLength(250);
  expect(columns[0]?.objects).toBe(9);
});

test('positions and moments are each other’s inverse, and stay inside', () => {
  const range = rangeOf(timeline);
  expect(momentAt(xOf(3000, range) / 1000, range)).toBe(3000);
  expect([xOf(-5, range), xOf(99_999, range)]).toEqual([0, 1000]);
  expect([momentAt(-1, range), momentAt(2, range)]).toEqual([0, 10_000]);
});

test('a timeline without length is one bucket long', () => {
  expect(rangeOf({ ...timeline, coverage: { ...timeline.coverage, to_ms: 0 } })).toEqual({ fromMs: 0, toMs: 1000 });
  expect(pathOf([])).toBe('');
});

test('a moment is in a gap until the gap ends', () => {
  expect(contentAt(timeline, 2000).gap?.reason).toBe('source_away');
  expect(contentAt(timeline, 4000)).toEqual({ gap: undefined, bucket: undefined });
  expect(contentAt(timeline, 5999).bucket?.from_ms).toBe(5000);
});
