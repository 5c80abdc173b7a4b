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
  /** Size of the image as displayed, after orientation. */
  original: ImageSize;
  image: RgbImage;
  /** Processor time that decoding took, milliseconds. */
  cpuMs: number;
}

interface Decoding extends Turn {
  /** Result of inspecting the structure of the image, when it was inspected before. */
  inspected?: InspectedImage;
}

/** Decodes untrusted images in separate processes. */
export interface ImageDecoder {
  start(): void;
  /**
   * Decodes JPEG, PNG or WebP, detected by the leading bytes, scaled to the result of `fit` for its size. Waits for a
   * free process with fair queueing of owners; images that are expected to be expensive have separate processes.
   * @throws ImageRefusedError when the image is at fault, AppError of kind unavailable, the reason of the signal.
   */
  decode(bytes: Uint8Array, fit: (original: ImageSize) => ImageSize, how?: Decoding): Promise<DecodedImage>;
  stop(): void;
}

export interface ImageDecoderOptions {
  sandbox: Sandbox;
  /** Number of ordinary images decoded concurrently. */
  atOnce: number;
  limits: ImageLimits;
  /** Called for every image that crashed its process. */
  onLost: () => void;
}

/** An expensive image takes hundreds of megabytes, so there is one slot for this number of ordinary slots. */
const ORDINARY_FOR_ONE_EXPENSIVE = 4;
/** Processes without it get three times as much of a processor. A higher value would time out on a busy machine. */
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
