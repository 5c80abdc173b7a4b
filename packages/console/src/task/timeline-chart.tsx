import type { JSX } from 'preact';
import { useId, useMemo } from 'preact/hooks';
import { inUtc, isDate, position, shortTime } from '../lib/format.ts';
import { columnsOf, HEIGHT, momentAt, pathOf, rangeOf, WIDTH, xOf } from '../lib/timeline-shape.ts';
import type { Range, Timeline } from '../lib/timeline-shape.ts';
import { t } from '../strings.ts';

interface ChartProps {
  timeline: Timeline;
  hidden: ReadonlySet<string>;
  /** The moment that is shown. */
  at: number | undefined;
  /** The moment that the viewer points at. */
  hovered: number | undefined;
  /** Moments that stand out. */
  marks?: readonly number[];
  textOf: (ms: number) => string;
  onHover: (ms: number | undefined) => void;
  onSeek: (ms: number) => void;
}

const TICKS = 5;
const LEAST_GAP = 2;

/** The timeline as a slider: bars of objects, hatched gaps, and a mark at the moment that is shown. */
export function TimelineChart(props: ChartProps): JSX.Element {
  const { timeline, hidden, at, hovered, marks = [], textOf, onHover, onSeek } = props;
  const range = rangeOf(timeline);
  const path = useMemo(() => pathOf(columnsOf(timeline, hidden)), [timeline, hidden]);
  const now = Math.min(range.toMs, Math.max(range.fromMs, at ?? range.fromMs));
  const stepMs = timeline.bucket_ms;
  const momentOf = (event: MouseEvent & { currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return momentAt((event.clientX - left) / Math.max(1, width), range);
  };
  const press = (event: KeyboardEvent) => {
    const moved = movedBy(event.key, { now, stepMs, range });
    if (moved === undefined) return;
    event.preventDefault();
    const next = Math.min(range.toMs - 1, Math.max(range.fromMs, moved));
    onHover(next);
    onSeek(next);
  };
  return (
    <div class="chart">
      <div
        class="chart-area"
        role="slider"
        tabIndex={0}
        aria-label={t.timeline.slider}
        aria-valuemin={range.fromMs}
        aria-valuemax={range.toMs}
        aria-valuenow={now}
        aria-valuetext={textOf(now)}
        title={tipOf(hovered)}
        onKeyDown={press}
        onFocus={() => onHover(now)}
        onBlur={() => onHover(undefined)}
        onClick={(event) => onSeek(momentOf(event))}
        onMouseMove={(event) => onHover(momentOf(event))}
        onMouseLeave={() => onHover(undefined)}
      >
        <Drawing timeline={timeline} range={range} path={path} x={at === undefined ? undefined : xOf(now, range)} />
        {marks.map((ms) => (
          <span key={ms} class="alarm-mark" style={{ left: `${xOf(ms, range) / (WIDTH / 100)}%` }} />
        ))}
      </div>
      <Ticks range={range} />
    </div>
  );
}

interface DrawingProps {
  timeline: Timeline;
  range: Range;
  path: string;
  x: number | undefined;
}

function Drawing({ timeline, range, path, x }: DrawingProps): JSX.Element {
  const pattern = useId();
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <defs>
        <pattern id={pattern} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="hatch" width="2.4" height="6" />
        </pattern>
      </defs>
      {timeline.gaps.map((gap) => {
        const from = xOf(gap.from_ms, range);
        const width = Math.max(LEAST_GAP, xOf(gap.to_ms, range) - from);
        return <rect key={gap.from_ms} x={from} width={width} height={HEIGHT} fill={`url(#${pattern})`} />;
      })}
      <path class="bars" d={path} />
      {x === undefined ? null : <rect class="mark" x={Math.min(WIDTH - 3, x)} width="3" height={HEIGHT} />}
    </svg>
  );
}

/** What the pointer tells beside the text below. */
const tipOf = (ms: number | undefined) =>
  ms !== undefined && isDate(ms) ? `${inUtc(ms)}. ${t.timeline.keys}` : t.timeline.keys;

function Ticks({ range }: { range: Range }): JSX.Element {
  const moments = Array.from({ length: TICKS }, (_, index) => momentAt(index / (TICKS - 1), range));
  return (
    <div class="ticks" aria-hidden="true">
      {moments.map((ms, index) => (
        <span key={index} title={isDate(ms) ? inUtc(ms) : undefined}>
          {isDate(ms) ? shortTime(ms) : position(ms)}
        </span>
      ))}
    </div>
  );
}

interface Place {
  now: number;
  stepMs: number;
  range: Range;
}

function movedBy(key: string, { now, stepMs, range }: Place): number | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return now - stepMs;
    case 'ArrowRight':
    case 'ArrowUp':
      return now + stepMs;
    case 'PageDown':
      return now - 10 * stepMs;
    case 'PageUp':
      return now + 10 * stepMs;
    case 'Home':
      return range.fromMs;
    case 'End':
      return range.toMs;
    default:
      return undefined;
  }
}
