import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Shown } from '../lib/boxes.ts';
import { score, short } from '../lib/format.ts';

const CHIP = 20;
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
  // The surest last, so that its label is on top.
  for (const object of objects.toReversed()) drawObject(context, object, { width, height });
}

function drawObject(context: CanvasRenderingContext2D, object: Shown, area: { width: number; height: number }): void {
  const { cx, cy, width, height } = object.bbox;
  const [x, y] = [(cx - width / 2) * area.width, (cy - height / 2) * area.height];
  const [w, h] = [width * area.width, height * area.height];
  // A dark line around the light one: visible on any image, in both themes.
  context.lineWidth = 4;
  context.strokeStyle = 'rgb(0 0 0 / 0.55)';
  context.strokeRect(x, y, w, h);
  context.lineWidth = 2;
  context.strokeStyle = '#8fd0ff';
  context.strokeRect(x, y, w, h);
  const text = `${short(object.label, MOST_LABEL)} ${score(object.score)}`;
  context.font = '600 12px system-ui, sans-serif';
  const chip = context.measureText(text).width + 10;
  const left = Math.max(0, Math.min(x - 1, area.width - chip));
  const top = y >= CHIP ? y - CHIP : Math.min(y, area.height - CHIP);
  context.fillStyle = 'rgb(8 20 32 / 0.82)';
  context.fillRect(left, top, chip, CHIP);
  context.fillStyle = '#ffffff';
  context.textBaseline = 'middle';
  context.fillText(text, left + 5, top + CHIP / 2 + 0.5);
}
