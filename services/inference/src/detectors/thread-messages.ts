import type { DetectedObject, ImageSize } from '@vision/contracts/detection';
import type { ChromaticSpec, OnnxSpec } from '@vision/contracts/scenes';
import type { FireObservation } from '../domain/observe-fire.ts';
import type { RgbImage } from '../domain/rgb-image.ts';

/** What a worker thread is started with. */
export interface ThreadSetup {
  /** Threads ONNX Runtime uses for one picture. */
  intraOpThreads: number;
  /** Threads it uses for a picture that is alone; the same number when this thread has no session for that. */
  aloneThreads: number;
  detectors: Record<string, { spec: ChromaticSpec } | { spec: OnnxSpec; path: string }>;
}

/** A picture to find objects in. */
export interface DetectRequest {
  kind: 'detect';
  id: number;
  detector: string;
  /** No other picture is in work or waits: this one may use the cores of all. */
  isAlone: boolean;
  picture: RgbImage;
  /** Of the model's input; undefined for a detector that takes pictures as they are. */
  shape: ImageSize | undefined;
  minScore: number;
  labels: readonly string[];
}

/** A frame to be looked at for the watch of a job, which judges fire and smoke by several. */
export interface ObserveRequest {
  kind: 'observe';
  id: number;
  detector: string;
  isAlone: boolean;
  picture: RgbImage;
}

export type ThreadRequest = DetectRequest | ObserveRequest;

/** What a thread found: the objects of a picture, or what a frame says to a watch. */
export type ThreadResult = { objects: DetectedObject[] } | { observation: FireObservation };

export type ThreadReply =
  | { ready: true }
  /** With the processor time that it took, milliseconds; undefined when it used cores that were idle. */
  | ({ id: number; cpuMs: number | undefined } & ThreadResult)
  | { id: number; error: string };
