import type { DetectedObject, ImageSize } from '@vision/shared/contracts/detection';
import type { ChromaticSpec, OnnxSpec } from '@vision/shared/contracts/scenes';
import type { RgbImage } from '../domain/rgb-image.ts';
import type { ImageFault } from '../domain/image-error.ts';

/** What a worker thread is started with. */
export interface ThreadSetup {
  /** Threads ONNX Runtime uses for one picture. */
  intraOpThreads: number;
  detectors: Record<string, { spec: ChromaticSpec } | { spec: OnnxSpec; path: string }>;
}

/** A measured picture that is still encoded, and the size that its detector needs. */
interface EncodedPicture {
  bytes: Uint8Array;
  scaled: ImageSize;
}

export interface ThreadRequest {
  id: number;
  detector: string;
  picture: RgbImage | EncodedPicture;
  minScore: number;
  labels: readonly string[];
}

export type ThreadReply =
  | { ready: true }
  | { id: number; objects: DetectedObject[] }
  /** The picture is at fault. */
  | { id: number; refused: ImageFault }
  | { id: number; error: string };
