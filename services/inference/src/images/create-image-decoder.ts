import type { ImageSize } from '@vision/contracts/detection';
import { fail } from '@vision/contracts/errors';
import type { Turn } from '@vision/shared/async/gate';
import { isOrdinary, inspectImage } from '../domain/inspect-image.ts';
import type { InspectedImage } from '../domain/inspect-image.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createDecoderLane } from './decoder-lane.ts';
import { startImageProcess } from './image-process.ts';
import type { ImageLimits } from './image-process.ts';

export interface DecodedImage {
  /** Size of the image as a person sees it, after orientation. */
  original: ImageSize;
  image: RgbImage;
  /** Processor time that decoding took, milliseconds. */
  cpuMs: number;
}

interface Decoding extends Turn {
  /** What the structure of the image says, where it is known already. */
  inspected?: InspectedImage;
}

/** Decodes images of strangers in processes of its own. */
export interface ImageDecoder {
  start(): void;
  /**
   * JPEG, PNG or WebP by its leading bytes, scaled to what `fit` says for its size. Waits for a free process; owners
   * take turns, and images that are expected to be expensive have processes of their own.
   * @throws ImageRefusedError when the image is at fault, AppError of kind unavailable, the reason of the signal.
   */
  decode(bytes: Uint8Array, fit: (original: ImageSize) => ImageSize, how?: Decoding): Promise<DecodedImage>;
  stop(): void;
}

export interface ImageDecoderOptions {
  sandbox: Sandbox;
  /** Ordinary images decoded at the same time. */
  atOnce: number;
  limits: ImageLimits;
  /** Told of every image that took its process down with it. */
  onLost: () => void;
}

/** Each takes hundreds of megabytes, so that there are few at once: one for so many ordinary images. */
const ORDINARY_FOR_ONE_EXPENSIVE = 4;
/** Others get three times as much of a processor. With less, none would be done in time on a busy machine. */
const EXPENSIVE_NICENESS = 5;

export function createImageDecoder({ sandbox, atOnce, limits, onLost }: ImageDecoderOptions): ImageDecoder {
  const ordinary = createDecoderLane({
    places: atOnce,
    hasSpare: true,
    startProcess: () => startImageProcess(sandbox, limits),
    onLost,
  });
  const expensive = createDecoderLane({
    places: Math.max(1, Math.floor(atOnce / ORDINARY_FOR_ONE_EXPENSIVE)),
    startProcess: () => startImageProcess(sandbox, limits, EXPENSIVE_NICENESS),
    onLost,
  });
  const lanes = [ordinary, expensive];

  return {
    start: () => {
      if (sandbox.canRun) lanes.forEach((lane) => lane.start());
    },
    decode: async (bytes, fit, { inspected = inspectImage(bytes), ...turn } = {}) => {
      if (!sandbox.canRun) throw fail.upstreamDown('sandbox_unavailable');
      const lane = isOrdinary(inspected) ? ordinary : expensive;
      const { original, pixels, cpuMs } = await lane.run((decoder) => decoder.decode(bytes, inspected, fit), turn);
      return { original, image: { ...fit(original), data: pixels }, cpuMs };
    },
    stop: () => lanes.forEach((lane) => lane.stop()),
  };
}
