import type { Line, Mark, Span } from './ask.ts';
import { colourOf, escaped, PALETTE, written } from './values.ts';

interface Size {
  width: number;
  height: number;
}

interface Look {
  unit: string | undefined;
  isStacked: boolean;
  marks: Mark[];
}

const LEFT = 62;
const BOTTOM = 18;
const TOP = 6;

/** Lines over time, or areas on top of each other, with a scale and a legend. */
export function timeChart(lines: Line[], span: Span, { width, height }: Size, { unit, isStacked, marks }: Look) {
  const drawn = isStacked ? stacked(lines) : lines;
  const most = Math.max(0, ...drawn.flatMap(({ points }) => points.map(([, value]) => value).filter(Number.isFinite)));
  const top = most === 0 ? 1 : most * 1.05;
  const x = (at: number) => LEFT + ((at - span.from) / (span.to - span.from)) * (width - LEFT - 4);
  const y = (value: number) => TOP + (1 - value / top) * (height - TOP - BOTTOM);
  const paths = drawn.map(({ points }, index) => {
    const colour = PALETTE[index % PALETTE.length] ?? '';
    const parts = unbroken(points, span.stepSeconds).map(
      (part) => `M${part.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join('L')}h0.01`,
    );
    return `<path d="${parts.join('')}" fill="none" stroke="${colour}" stroke-width="1.4" stroke-linecap="round"/>`;
  });
  const scale = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(part * top);
    return `<line x1="${LEFT}" x2="${width}" y1="${at}" y2="${at}" stroke="#2c3235"/><text x="${LEFT - 5}" y="${at + 4}" text-anchor="end">${written(part * top, unit)}</text>`;
  });
  const moments = marks.map(
    ({ at, colour }) =>
      `<line x1="${x(at)}" x2="${x(at)}" y1="${TOP}" y2="${height - BOTTOM}" stroke="${colour}" stroke-dasharray="3 3"/>`,
  );
  return svg({ width, height }, [...scale, ...clock(span, x, height), ...moments, ...paths]);
}

/** A bar for each line: red where it is above 0. */
export function stateChart(lines: Line[], span: Span, { width, height }: Size, steps: Parameters<typeof colourOf>[1]) {
  const left = 110;
  const x = (at: number) => left + ((at - span.from) / (span.to - span.from)) * (width - left - 4);
  const row = Math.min(26, (height - BOTTOM) / Math.max(1, lines.length));
  const bars = lines.flatMap(({ name, points }, index) => [
    `<text x="${left - 6}" y="${row * index + row / 2 + 4}" text-anchor="end">${escaped(name)}</text>`,
    ...points.map(([at, value]) => {
      const end = Math.min(width - 4, x(at + span.stepSeconds) + 0.5);
      return `<rect x="${x(at)}" y="${row * index + 2}" width="${end - x(at)}" height="${row - 4}" fill="${colourOf(value, steps)}"/>`;
    }),
  ]);
  return svg({ width, height }, [...bars, ...clock(span, x, height)]);
}

/** Counts by bucket and time; darker is more. Buckets are cumulative, as Prometheus has them. */
export function heatChart(lines: Line[], span: Span, { width, height }: Size) {
  const rows = lines.toSorted((a, b) => boundOf(a) - boundOf(b));
  const counts = rows.map(({ points }, index) => {
    const below = new Map(rows[index - 1]?.points ?? []);
    return points.map(([at, value]): [number, number] => [at, Math.max(0, value - (below.get(at) ?? 0))]);
  });
  const most = Math.max(1, ...counts.flat().map(([, value]) => value));
  const x = (at: number) => LEFT + ((at - span.from) / (span.to - span.from)) * (width - LEFT - 4);
  const high = (height - BOTTOM) / Math.max(1, rows.length);
  const cells = counts.flatMap((points, index) =>
    points.flatMap(([at, value]) => {
      if (value === 0) return [];
      const strength = 0.15 + 0.85 * Math.sqrt(value / most);
      const top = height - BOTTOM - high * (index + 1);
      return [
        `<rect x="${x(at)}" y="${top}" width="${x(at + span.stepSeconds) - x(at)}" height="${high}" fill="#ff9830" fill-opacity="${strength.toFixed(2)}"/>`,
      ];
    }),
  );
  const every = Math.ceil(rows.length / 8);
  const names = rows.flatMap((line, index) =>
    index % every === 0
      ? [
          `<text x="${LEFT - 5}" y="${height - BOTTOM - high * index}" text-anchor="end">${written(boundOf(line), 's')}</text>`,
        ]
      : [],
  );
  return svg({ width, height }, [...cells, ...names, ...clock(span, x, height)]);
}

const boundOf = ({ labels: { le = '+Inf' } }: Line) => (le === '+Inf' ? Infinity : Number(le));

/** Each line above the sum of those before it. */
function stacked(lines: Line[]): Line[] {
  const sums = new Map<number, number>();
  return lines.map((line) => ({
    ...line,
    points: line.points.map(([at, value]): [number, number] => {
      const sum = (sums.get(at) ?? 0) + (Number.isFinite(value) ? value : 0);
      sums.set(at, sum);
      return [at, sum];
    }),
  }));
}

/** Parts of a line between missing values. */
function unbroken(points: [number, number][], stepSeconds: number): [number, number][][] {
  const parts: [number, number][][] = [];
  let before = -Infinity;
  for (const point of points.filter(([, value]) => Number.isFinite(value))) {
    if (point[0] - before > 1.5 * stepSeconds) parts.push([]);
    parts.at(-1)?.push(point);
    before = point[0];
  }
  return parts;
}

const clock = ({ from, to }: Span, x: (at: number) => number, height: number) =>
  [0.02, 0.25, 0.5, 0.75, 0.97].map((part) => {
    const at = from + part * (to - from);
    const time = new Date(at * 1000).toISOString().slice(11, 16);
    return `<text x="${x(at)}" y="${height - 4}" text-anchor="middle">${time}</text>`;
  });

const svg = ({ width, height }: Size, parts: string[]) =>
  `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${parts.join('')}</svg>`;
