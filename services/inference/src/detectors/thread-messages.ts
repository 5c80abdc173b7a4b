import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import type { OnnxSpec } from '@vision/contracts/scenes';
import type { RgbImage } from '../domain/rgb-image.ts';

/** What a worker thread is started with. */
export interface ThreadSetup {
  /** Threads ONNX Runtime uses for an image that is alone, 1 for any other. */
  aloneThreads: number;
  detectors: Record<string, { spec: OnnxSpec; path: string }>;
}

/** An image to find objects in. */
export interface DetectRequest {
  id: number;
  detector: string;
  /** No other image is in work or waits: this one may use the cores of all. */
  isAlone: boolean;
  image: RgbImage;
  /** Of the model's input. */
  shape: ImageSize;
  minScore: number;
  labels: readonly string[];
}

export type ThreadReply =
  | { ready: true }
  /** With the processor time that it took, milliseconds; undefined when it used cores that were idle. */
  | { id: number; cpuMs: number | undefined; objects: DetectedObject[] }
  | { id: number; error: string };
