import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';

/** Pictures are drawn at the size at which the detector looks at them. */
export const WIDTH = 320;
export const HEIGHT = 180;

export type Colour = readonly [number, number, number];

/** A picture that is being drawn, in light rather than in bytes: values may pass 255 until the camera sees them. */
export interface Canvas {
  light: Float32Array;
}

export const createCanvas = (): Canvas => ({ light: new Float32Array(WIDTH * HEIGHT * 3) });

/** Lays a colour over a pixel. */
export function lay({ light }: Canvas, pixel: number, colour: Colour, opacity: number): void {
  for (let channel = 0; channel < 3; channel += 1) {
    const at = pixel * 3 + channel;
    light[at] = (light[at] as number) * (1 - opacity) + (colour[channel] as number) * opacity;
  }
}

/** Adds light to a pixel, as a lamp or a flame does. */
export function shine({ light }: Canvas, pixel: number, colour: Colour, strength: number): void {
  for (let channel = 0; channel < 3; channel += 1) {
    const at = pixel * 3 + channel;
    light[at] = (light[at] as number) + (colour[channel] as number) * strength;
  }
}

/** Every pixel of a rectangle that lies in the picture. */
export function eachPixel(
  { left, top, right, bottom }: { left: number; top: number; right: number; bottom: number },
  visit: (x: number, y: number, pixel: number) => void,
): void {
  for (let y = Math.max(0, Math.floor(top)); y < Math.min(HEIGHT, Math.ceil(bottom)); y += 1) {
    for (let x = Math.max(0, Math.floor(left)); x < Math.min(WIDTH, Math.ceil(right)); x += 1)
      visit(x, y, y * WIDTH + x);
  }
}

/** A filled rectangle with edges that are soft over about a pixel. */
export function rectangle(
  canvas: Canvas,
  box: { left: number; top: number; right: number; bottom: number },
  colour: Colour,
): void {
  eachPixel(box, (x, y, pixel) => {
    const inside = Math.min(x + 1 - box.left, box.right - x, y + 1 - box.top, box.bottom - y);
    lay(canvas, pixel, colour, Math.min(1, Math.max(0, inside)));
  });
}

/** A filled disc with a soft edge. */
export function disc(
  canvas: Canvas,
  { x: cx, y: cy, radius }: { x: number; y: number; radius: number },
  colour: Colour,
) {
  eachPixel(
    { left: cx - radius - 1, top: cy - radius - 1, right: cx + radius + 1, bottom: cy + radius + 1 },
    (x, y, pixel) =>
      lay(canvas, pixel, colour, Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x + 0.5 - cx, y + 0.5 - cy)))),
  );
}

/** What stands on the canvas, as bytes. */
export function toImage({ light }: Canvas): RgbImage {
  return {
    width: WIDTH,
    height: HEIGHT,
    data: Uint8Array.from(light, (value) => Math.min(255, Math.max(0, Math.round(value)))),
  };
}
