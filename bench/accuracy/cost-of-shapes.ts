import type { Shape } from '@vision/contracts/model-input';
import sharp from 'sharp';
import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import { median } from '../figures.ts';
import { withDetector } from '../tracking/with-detector.ts';

const ROUNDS = 15;

/**
 * Milliseconds of processor time to detect in one picture, by the name of the shape; all shapes in turn, so that the
 * load of the machine cancels out. The picture has the shape already, as decoders hand over the frames of videos.
 */
export async function costOfShapes(shapes: readonly Shape[], picture?: RgbImage): Promise<Map<string, number>> {
  if (!picture) return new Map();
  const samples = new Map(shapes.map((shape): [string, number[]] => [nameOf(shape), []]));
  const inTurn = async (ready: Ready[]) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, detect] of ready) {
        const before = process.cpuUsage();
        await detect();
        const { user, system } = process.cpuUsage(before);
        samples.get(name)?.push((user + system) / 1000);
      }
    }
  };
  await open(picture, shapes, [], inTurn);
  return new Map([...samples].map(([name, list]) => [name, median(list)]));
}

export const nameOf = ([width, height]: Shape) => `${width}×${height}`;

type Ready = [name: string, detect: () => Promise<unknown>];

/** Lends a detector for each shape, all at once. */
async function open(
  picture: RgbImage,
  shapes: readonly Shape[],
  ready: Ready[],
  work: (ready: Ready[]) => Promise<void>,
): Promise<void> {
  const [shape, ...others] = shapes;
  if (!shape) return work(ready);
  const scaled = await scaledTo(picture, shape);
  return withDetector(
    (detect) => open(picture, others, [...ready, [nameOf(shape), () => detect(scaled)]], work),
    shape,
  );
}

async function scaledTo({ data, width: fromWidth, height: fromHeight }: RgbImage, [width, height]: Shape) {
  const raw = { width: fromWidth, height: fromHeight, channels: 3 as const };
  const scaled = await sharp(data, { raw }).resize(width, height, { fit: 'fill' }).raw().toBuffer();
  return { data: scaled, width, height };
}
