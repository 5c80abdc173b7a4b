import type { DetectedObject } from '@vision/shared/contracts/detection';
import type { ChromaticSpec, OnnxSpec } from '@vision/shared/contracts/scenes';
import type { RgbImage } from '../domain/rgb-image.ts';

/** What a worker thread is started with. */
export interface ThreadSetup {
  /** Threads ONNX Runtime uses for one picture. */
  intraOpThreads: number;
  detectors: Record<string, { spec: ChromaticSpec } | { spec: OnnxSpec; path: string }>;
}

export interface ThreadRequest {
  id: number;
  detector: string;
  picture: RgbImage;
  minScore: number;
  labels: readonly string[];
}

export type ThreadReply = { ready: true } | { id: number; objects: DetectedObject[] } | { id: number; error: string };
