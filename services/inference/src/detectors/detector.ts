import type { Calibration } from '@vision/contracts/calibration';
import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import type { FrameFit } from '../domain/frame-fit.ts';
import type { RgbImage } from '../domain/rgb-image.ts';

interface DetectOptions {
  /** Objects with a lower score are not returned, 0..1. */
  minScore: number;
  /** Labels of the scene; other classes of the model are ignored. */
  labels: readonly string[];
  /** Owner of the request, for fair queueing. */
  owner?: string | undefined;
  signal?: AbortSignal | undefined;
  /** The caller no longer reads the pixels: they may be transferred to a thread instead of copied. */
  givesPixels?: boolean;
}

/** Finds objects in one image and gives each the score of its model. Safe to call concurrently. */
export interface Detector {
  /** Name and version, as in the health response. */
  readonly model: string;
  /** The size to which a decoder should scale an image of this size, so that it is scaled only once. */
  fit(original: ImageSize): ImageSize;
  /** The same for decoders that determine the size of the image themselves. */
  readonly frameFit: FrameFit;
  /** Measured processor time of this process for detection in one video frame of this size, in milliseconds. */
  costMs(original: ImageSize): number;
  /**
   * Objects at or above `minScore`, highest score first. An image of another size than that of `fit` is scaled first.
   * @throws AppError of kind unavailable when the model does not answer.
   */
  detect(image: RgbImage, options: DetectOptions): Promise<DetectedObject[]>;
}

/** Finds objects in one image. Shared by image calls and video jobs; safe to call concurrently. */
export interface CalibratedDetector extends Detector {
  /** Meaning of its scores. */
  readonly calibration: Calibration;
  /** @param options.calibration used instead of its own: see `calibrationFor` */
  detect(image: RgbImage, options: DetectOptions & { calibration?: Calibration }): Promise<DetectedObject[]>;
}
