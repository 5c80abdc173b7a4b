import type { DetectedObject } from '@vision/shared/contracts/detection';
import type { ChromaticSpec, OnnxSpec } from '@vision/shared/contracts/scenes';
import type { RgbImage } from '../domain/rgb-image.ts';

/** What a worker thread is started with. */
export interface WorkerSetup {
  /** Threads ONNX Runtime uses for one picture. */
  intraOpThreads: number;
  detectors: Record<string, { spec: ChromaticSpec } | { spec: OnnxSpec; path: string }>;
}

export interface WorkerRequest {
  id: number;
  detector: string;
  image: RgbImage;
  minScore: number;
  labels: readonly string[];
}

export type WorkerReply = { ready: true } | { id: number; objects: DetectedObject[] } | { id: number; error: string };
