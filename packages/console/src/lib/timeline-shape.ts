import type { components } from '@vision/client';

export type Timeline = components['schemas']['Timeline'];
export type Gap = Timeline['gaps'][number];
type Bucket = Timeline['items'][number];

/** How wide and high the drawing is, in its own units; it is stretched to its place. */
export const WIDTH = 1000;
export const HEIGHT = 64;
const COLUMNS = 250;

export interface Range {
  fromMs: number;
  toMs: number;
}

export const rangeOf = ({ coverage, bucket_ms: bucketMs }: Timeline): Range => ({
  fromMs: coverage.from_ms,
  toMs: Math.max(coverage.to_ms, coverage.from_ms + bucketMs),
});

/** Horizontal position of a moment. */
export const xOf = (ms: number, { fromMs, toMs }: Range) =>
  Math.min(WIDTH, Math.max(0, ((ms - fromMs) / (toMs - fromMs)) * WIDTH));

/** The moment at a share of the width. */
export const momentAt = (share: number, { fromMs, toMs }: Range) =>
  Math.round(fromMs + Math.min(1, Math.max(0, share)) * (toMs - fromMs));

/** Most objects at once of the labels that are shown. */
export const objectsIn = ({ labels }: Bucket, hidden: ReadonlySet<string>) =>
  labels.reduce((sum, { label, objects_max: most }) => (hidden.has(label) ? sum : sum + most), 0);

export interface Column {
  x: number;
  width: number;
  objects: number;
}

/** The buckets as at most 250 columns, each as high as the largest of its buckets. */
export function columnsOf(timeline: Timeline, hidden: ReadonlySet<string>): Column[] {
  const range = rangeOf(timeline);
  const buckets = Math.ceil((range.toMs - range.fromMs) / timeline.bucket_ms);
  const perColumn = Math.max(1, Math.ceil(buckets / COLUMNS));
  const columnMs = perColumn * timeline.bucket_ms;
  const most = new Map<number, number>();
  for (const bucket of timeline.items) {
    const column = Math.floor((bucket.from_ms - range.fromMs) / columnMs);
    most.set(column, Math.max(most.get(column) ?? 0, objectsIn(bucket, hidden)));
  }
  return [...most]
    .filter(([, objects]) => objects > 0)
    .map(([column, objects]) => {
      const x = xOf(range.fromMs + column * columnMs, range);
      return { x, width: xOf(range.fromMs + (column + 1) * columnMs, range) - x, objects };
    });
}

/** The columns as the outline of one shape. */
export function pathOf(columns: readonly Column[]): string {
  const highest = Math.max(1, ...columns.map(({ objects }) => objects));
  return columns
    .map(({ x, width, objects }) => {
      const height = Math.max(3, (objects / highest) * (HEIGHT - 8));
      // A little air between columns that are wide enough for it.
      const drawn = width > 3 ? width - 0.8 : width;
      return `M${round(x)} ${HEIGHT}v${round(-height)}h${round(drawn)}V${HEIGHT}z`;
    })
    .join('');
}

const round = (value: number) => Math.round(value * 100) / 100;

/** What the timeline has at a moment: a gap, or a bucket. */
export function contentAt(timeline: Timeline, ms: number): { gap?: Gap | undefined; bucket?: Bucket | undefined } {
  const gap = timeline.gaps.find(({ from_ms: from, to_ms: to }) => from <= ms && ms < to);
  const bucket = timeline.items.find(({ from_ms: from }) => from <= ms && ms < from + timeline.bucket_ms);
  return { gap, bucket };
}
