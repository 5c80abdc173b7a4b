import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createCanvas, HEIGHT, rectangle, WIDTH } from './canvas.ts';
import type { Canvas, Colour } from './canvas.ts';
import { hash, noise, turbulence } from './noise.ts';

/** Draws what the camera sees when nothing burns, at this time. */
export type Background = (time: number) => Canvas;

export const FPS = 5;
const street = join(import.meta.dirname, '../../examples/street.mp4');

/** Frames of the example video. */
export const streetFrames = () => framesOf(street);

/** Frames of a video, five a second, cut to the shape of the canvas. */
export async function framesOf(file: string): Promise<Uint8Array[]> {
  const filter = `fps=${FPS},scale=${WIDTH}:-2,crop=${WIDTH}:${HEIGHT}`;
  const { stdout } = await promisify(execFile)(
    'ffmpeg',
    ['-v', 'error', '-i', file, '-vf', filter, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'],
    { encoding: 'buffer', maxBuffer: 2 ** 28 },
  );
  const size = WIDTH * HEIGHT * 3;
  return Array.from({ length: Math.floor(stdout.length / size) }, (_, index) =>
    stdout.subarray(index * size, (index + 1) * size),
  );
}

/** A part of the example video, forwards and backwards so that it never jumps. `light` darkens it to an evening. */
export function streetBackground(frames: readonly Uint8Array[], from: number, to: number, light: number): Background {
  const part = frames.slice(from, to);
  return (time) => {
    const step = Math.round(time * FPS) % (2 * part.length - 2);
    const frame = part[step < part.length ? step : 2 * part.length - 2 - step] as Uint8Array;
    return { light: Float32Array.from(frame, (value) => value * light) };
  };
}

/** A place that does not move: drawn once. */
function still(
  draw: (x: number, y: number) => Colour,
  furnish: (canvas: Canvas) => void = () => undefined,
): Background {
  const canvas = createCanvas();
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) canvas.light.set(draw(x, y), (y * WIDTH + x) * 3);
  }
  furnish(canvas);
  return () => ({ light: canvas.light.slice() });
}

const shaded = ([r, g, b]: Colour, by: number): Colour => [r * by, g * by, b * by];
const grain = (x: number, y: number) => 0.8 + 0.25 * noise(x / 5, y / 5, 1) + 0.15 * hash(x, y, 2);

export const yard = still(
  (x, y) =>
    y < 60
      ? [150 + y / 2, 178 + y / 3, 215]
      : y < 105
        ? shaded([150, 132, 112], grain(x, y))
        : shaded([118, 116, 110], grain(x, y)),
  (canvas) => {
    for (let x = 20; x < 300; x += 46) rectangle(canvas, { left: x, top: 70, right: x + 20, bottom: 92 }, [60, 72, 88]);
  },
);

export const forest = still((x, y) => {
  if (y < 35) return [175, 200, 228];
  const leaves = turbulence(x / 7, y / 7, 3);
  return y < 120 ? shaded([62, 98, 48], 0.4 + 1.2 * leaves) : shaded([96, 112, 62], 0.6 + 0.7 * leaves);
});

export const hall = still(
  (x, y) =>
    y < 120 ? shaded([176, 170, 158], 0.75 + 0.25 * noise(x / 90, y / 60, 4)) : shaded([120, 104, 88], grain(x, y)),
  (canvas) => {
    for (let x = 12; x < 310; x += 74)
      rectangle(canvas, { left: x, top: 60, right: x + 52, bottom: 118 }, [128, 84, 48]);
    for (let x = 20; x < 310; x += 90)
      rectangle(canvas, { left: x, top: 8, right: x + 40, bottom: 13 }, [255, 252, 240]);
  },
);

export const night = still(
  (x, y) => shaded(y < 80 ? [14, 16, 30] : [34, 32, 34], grain(x, y)),
  (canvas) => {
    for (let x = 30; x < 300; x += 60)
      rectangle(canvas, { left: x, top: 50, right: x + 12, bottom: 66 }, [150, 130, 80]);
  },
);

export const kiln = still(
  (x, y) =>
    shaded(
      [168, 92, 66],
      0.6 + 0.5 * noise(Math.floor(x / 16 + (Math.floor(y / 8) % 2) / 2), Math.floor(y / 8), 6) + 0.1 * hash(x, y, 7),
    ),
  (canvas) => rectangle(canvas, { left: 110, top: 70, right: 210, bottom: 180 }, [52, 46, 44]),
);
