import type { JSX } from 'preact';
import type { Point, ShapeKind } from '../lib/shape.ts';

interface ShapeDrawingProps {
  kind: ShapeKind;
  points: readonly Point[];
  aspect: number;
}

const HEIGHT = 1000;
const ARROW = 90;

/** The edges of a shape over its image. */
export function ShapeDrawing({ kind, points, aspect }: ShapeDrawingProps): JSX.Element {
  const width = HEIGHT * aspect;
  const at = points.map(([x, y]): Point => [x * width, y * HEIGHT]);
  const list = at.map((point) => point.join()).join(' ');
  return (
    <svg class="shape-drawing" viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {kind === 'polygon' ? <polygon class="shape-fill" points={list} /> : null}
      <Edges kind={kind} list={list} className="shape-under" />
      <Edges kind={kind} list={list} className="shape-edge" />
      {kind === 'line' ? <path class="shape-edge" d={arrowOf(at)} /> : null}
    </svg>
  );
}

function Edges({ kind, list, className }: { kind: ShapeKind; list: string; className: string }): JSX.Element {
  return kind === 'polygon' ? (
    <polygon class={className} points={list} />
  ) : (
    <polyline class={className} points={list} />
  );
}

/** An arrow from the middle of the line to its right side, as seen from the first point. */
function arrowOf([from, to]: readonly Point[]): string {
  if (!from || !to) return '';
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (length === 0) return '';
  const [ux, uy] = [dx / length, dy / length];
  const [mx, my] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  const [tx, ty] = [mx - uy * ARROW, my + ux * ARROW];
  const wing = (side: number): Point => [tx + (uy + side * ux) * (ARROW / 4), ty + (-ux + side * uy) * (ARROW / 4)];
  return `M${mx} ${my}L${tx} ${ty}M${wing(1).join(' ')}L${tx} ${ty}L${wing(-1).join(' ')}`;
}
