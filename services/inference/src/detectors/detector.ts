import type { Calibration } from '@vision/contracts/calibration';
import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import type { FrameFit } from '../domain/frame-fit.ts';
import type { RgbImage } from '../domain/rgb-image.ts';

interface DetectOptions {
  /** Objects below it are not returned, 0..1. */
  minScore: number;
  /** Labels of the scene; other classes of the model are ignored. */
  labels: readonly string[];
  /** On whose behalf: owners take turns. */
  owner?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The caller looks at the pixels no more: they may be moved to where they are needed instead of copied. */
  givesPixels?: boolean;
}

/** Finds objects in one image and gives each the score of its model. Safe to call concurrently. */
export interface Detector {
  /** Name and version, as health reports it. */
  readonly model: string;
  /** The size to which a decoder should scale an image of this size, so that nothing is scaled twice. */
  fit(original: ImageSize): ImageSize;
  /** The same for decoders that learn the size of the image by themselves. */
  readonly frameFit: FrameFit;
  /** Processor time of this process for a look at one frame of a video of this size, milliseconds, as measured. */
  costMs(original: ImageSize): number;
  /**
   * Objects at or above `minScore`, highest score first. An image of another size than `fit` says is scaled first.
   * @throws AppError of kind unavailable when the model does not answer.
   */
  detect(image: RgbImage, options: DetectOptions): Promise<DetectedObject[]>;
}

/** Finds objects in one image. Shared by image calls and video jobs; safe to call concurrently. */
export interface CalibratedDetector extends Detector {
  /** What its scores mean. */
  readonly calibration: Calibration;
  /** @param options.calibration what scores mean instead: the calibration with which a job began */
  detect(image: RgbImage, options: DetectOptions & { calibration?: Calibration }): Promise<DetectedObject[]>;
}
