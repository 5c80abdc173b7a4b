import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Shown } from '../lib/boxes.ts';
import { isolated, score, short } from '../lib/format.ts';

/** Height of a label. */
const CHIP = 16;
const MOST_LABEL = 24;

/** Boxes over an image or a video, which it covers entirely. A table beside it says the same in words. */
export function BoxLayer({ objects }: { objects: readonly Shown[] }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(objects);
  latest.current = objects;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => draw(element, latest.current));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current) draw(canvas.current, objects);
  }, [objects]);
  return <canvas ref={canvas} class="boxes" aria-hidden="true" />;
}

function draw(canvas: HTMLCanvasElement, objects: readonly Shown[]): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = canvas.getContext('2d');
  if (!context || width === 0) return;
  const scale = devicePixelRatio;
  const size = [Math.round(width * scale), Math.round(height * scale)] as const;
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const area = { width, height };
  for (const object of objects) drawBox(context, rectangleOf(object, area));
  // The surest come first; a label that would hide another is left out, and stands in the table.
  const labels: Rectangle[] = [];
  for (const object of objects) drawLabel(context, object, { area, labels });
}

interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}
type Area = Pick<Rectangle, 'width' | 'height'>;

const rectangleOf = ({ bbox: { cx, cy, width, height } }: Shown, area: Area): Rectangle => ({
  x: (cx - width / 2) * area.width,
  y: (cy - height / 2) * area.height,
  width: width * area.width,
  height: height * area.height,
});

/** A dark line around the light one: visible on any image, in both themes. */
function drawBox(context: CanvasRenderingContext2D, { x, y, width, height }: Rectangle): void {
  context.lineWidth = 4;
  context.strokeStyle = 'rgb(0 0 0 / 0.55)';
  context.strokeRect(x, y, width, height);
  context.lineWidth = 2;
  context.strokeStyle = '#8fd0ff';
  context.strokeRect(x, y, width, height);
}

interface Places {
  area: Area;
  /** Labels that are drawn already. */
  labels: Rectangle[];
}

function drawLabel(context: CanvasRenderingContext2D, object: Shown, { area, labels }: Places): void {
  const text = `${isolated(short(object.label, MOST_LABEL))} ${score(object.score)}`;
  context.font = '600 11px system-ui, sans-serif';
  const width = context.measureText(text).width + 8;
  const box = rectangleOf(object, area);
  const x = Math.max(0, Math.min(box.x - 1, area.width - width));
  const chips = [box.y - CHIP, box.y + box.height, box.y].map((y) => ({ x, y, width, height: CHIP }));
  const chip = chips.find(
    (one) => one.y >= 0 && one.y + CHIP <= area.height && labels.every((other) => !overlaps(one, other)),
  );
  if (!chip) return;
  labels.push(chip);
  context.fillStyle = 'rgb(8 20 32 / 0.82)';
  context.fillRect(chip.x, chip.y, chip.width, chip.height);
  context.fillStyle = '#ffffff';
  context.textBaseline = 'middle';
  context.fillText(text, chip.x + 4, chip.y + CHIP / 2 + 0.5);
}

const overlaps = (a: Rectangle, b: Rectangle) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
