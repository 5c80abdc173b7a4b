import sharp from 'sharp';
import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import { toImage } from './canvas.ts';
import type { Canvas } from './canvas.ts';
import { between } from './noise.ts';

export interface Camera {
  /** Deviation of its noise, in steps of 255. */
  noise: number;
  /** Quality at which each frame is compressed. */
  quality: number;
}

export const randomCamera = (random: () => number): Camera => ({
  noise: between(random, 0.5, 5),
  quality: Math.round(between(random, 45, 90)),
});

/** What a camera sends of a canvas: noise in every frame, and the blocks of compression. */
export async function film(canvas: Canvas, camera: Camera, random: () => number): Promise<RgbImage> {
  canvas.light.forEach((value, at) => {
    // The sum of three even numbers is near enough to a bell curve.
    canvas.light[at] = value + camera.noise * 2 * (random() + random() + random() - 1.5);
  });
  const { width, height, data } = toImage(canvas);
  const raw = { width, height, channels: 3 as const };
  const compressed = await sharp(data, { raw }).jpeg({ quality: camera.quality }).toBuffer();
  return { width, height, data: await sharp(compressed).raw().toBuffer() };
}
