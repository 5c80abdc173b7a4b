import type { ImageSize } from '@vision/contracts/detection';

/** How much a new measurement counts against those before: about the last fifty. The first few count alike. */
const WEIGHT = 0.02;

/** What was computed: the work by name, and the shape of its input. */
interface MeasuredWork {
  work: string;
  shape: ImageSize;
}

/** Processor time of detections by kind and shape of the input. */
export interface DetectionCosts {
  add: (measured: MeasuredWork, cpuMs: number) => void;
  /** Milliseconds; for a shape that was not measured by the pixels of those that were, 0 when there is none. */
  costMs: (wanted: MeasuredWork) => number;
}

export function createDetectionCosts(): DetectionCosts {
  const perPixel = new Map<string, Average>();
  const perShape = new Map<string, Average>();
  return {
    add: ({ work, shape }, cpuMs) => {
      smooth(perShape, keyOf(work, shape), cpuMs);
      smooth(perPixel, work, cpuMs / pixelsOf(shape));
    },
    costMs: ({ work, shape }) =>
      perShape.get(keyOf(work, shape))?.value ?? (perPixel.get(work)?.value ?? 0) * pixelsOf(shape),
  };
}

interface Average {
  value: number;
  count: number;
}

function smooth(averages: Map<string, Average>, key: string, next: number): void {
  const { value, count } = averages.get(key) ?? { value: next, count: 0 };
  const weight = Math.max(WEIGHT, 1 / (count + 1));
  averages.set(key, { value: value + weight * (next - value), count: count + 1 });
}

const keyOf = (work: string, { width, height }: ImageSize) => `${work} ${width}x${height}`;
const pixelsOf = ({ width, height }: ImageSize) => width * height;
