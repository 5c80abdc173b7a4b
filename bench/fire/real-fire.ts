import { join } from 'node:path';
import type { DetectedObject } from '@vision/contracts/detection';
import type { Figure } from '../figures.ts';
import { FPS, framesOf } from './backgrounds.ts';
import { HEIGHT, WIDTH } from './canvas.ts';
import { methods } from './measure.ts';
import type { MethodName } from './measure.ts';

/** Low: its flames are small, and pale before walls of their own colour. */
const LEAST = 0.25;
const file = join(import.meta.dirname, 'data/burning-house.mp4');

/** The one real fire: it burns in every frame, so every frame ought to show fire. */
export async function realFire(
  method: MethodName,
  publish: (found: DetectedObject[]) => DetectedObject[],
): Promise<Figure[]> {
  const find = methods[method]();
  let firstMs: number | undefined;
  const frames = await framesOf(file);
  const shown = frames.filter((data, index) => {
    const timeMs = (index * 1000) / FPS;
    const found = publish(find(timeMs, { width: WIDTH, height: HEIGHT, data }));
    const isShown = found.some(({ label, score }) => label === 'fire' && score >= LEAST);
    if (isShown) firstMs ??= timeMs;
    return isShown;
  });
  const about = `real fire, ${method === 'picture' ? 'picture by picture' : 'as video'}`;
  return [
    { name: `${about}, frames with fire at ${LEAST}`, value: shown.length / frames.length, unit: 'share' },
    { name: `${about}, first alarm at ${LEAST} after`, value: (firstMs ?? Number.NaN) / 1000, unit: 's' },
  ];
}
