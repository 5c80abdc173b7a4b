import { WIDTH } from './canvas.ts';

/** Where something is in a frame, in pixels. */
export interface Truth {
  label: 'fire' | 'smoke';
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The box around pixels; none when there are fewer than `least`. Two in a hundred on each side may lie outside. */
export function coveredBox(label: Truth['label'], pixels: ReadonlySet<number>, least: number): Truth[] {
  if (pixels.size < least) return [];
  const columns = [...pixels].map((pixel) => pixel % WIDTH).sort((a, b) => a - b);
  const rows = [...pixels].map((pixel) => Math.floor(pixel / WIDTH)).sort((a, b) => a - b);
  const [low, high] = [Math.floor(0.02 * pixels.size), Math.ceil(0.98 * pixels.size) - 1];
  return [
    {
      label,
      left: columns[low] as number,
      top: rows[low] as number,
      right: (columns[high] as number) + 1,
      bottom: (rows[high] as number) + 1,
    },
  ];
}
