import type { FireObservation } from './observe-fire.ts';

/** Within this time after a frame the background has taken over about two thirds of a lasting change. */
const FORGET_MS = 30_000;
/** Share of cells that change at once when the camera moves or the scene is cut. */
const MOVED_SHARE = 0.6;
/** Least change of brightness that is no noise. */
const LEAST_CHANGE = 7;
/** Smoke changes slowly: from frame to frame by less than this, or this share of what it has changed in all. */
const LEAST_STEP = 6;
const STEP_SHARE = 0.5;

/** A frame against what the camera usually sees. One number for each cell. */
export interface Change {
  /** Brightness above the background, a common change of the whole picture taken away. */
  lift: Float32Array;
  /** Fine detail of the background, in the steps of `FireObservation.detail`. */
  detailBefore: Float32Array;
  /** Which cells differ by more than noise, and not because something moves through them in this moment. */
  changed: Uint8Array;
}

export interface SmokeBackground {
  /** Compares a frame with the background and adds it to it; undefined when the camera moved: then it starts anew. */
  compare(timeMs: number, frame: FireObservation): Change | undefined;
}

/** Running means of brightness, detail and noise of each cell: what a camera that stands still usually sees. */
export function createSmokeBackground(): SmokeBackground {
  let known: Known | undefined;
  return {
    compare: (timeMs, frame) => {
      if (known?.luma.length !== frame.luma.length) {
        known = startFrom(frame, timeMs);
        return undefined;
      }
      const change = differenceFrom(known, frame);
      if (change.differing > MOVED_SHARE * frame.luma.length) {
        known = startFrom(frame, timeMs);
        return undefined;
      }
      learn(known, frame, timeMs);
      return change;
    },
  };
}

interface Known {
  luma: Float32Array;
  detail: Float32Array;
  /** Mean absolute difference from frame to frame. */
  noise: Float32Array;
  last: Uint8Array;
  frames: number;
  timeMs: number;
}

function startFrom({ luma, detail }: FireObservation, timeMs: number): Known {
  const noise = new Float32Array(luma.length).fill(1);
  return { luma: Float32Array.from(luma), detail: Float32Array.from(detail), noise, last: luma, frames: 1, timeMs };
}

function differenceFrom(known: Known, { luma }: FireObservation): Change & { differing: number } {
  const raw = Float32Array.from(luma, (value, cell) => value - (known.luma[cell] as number));
  const common = raw.toSorted()[raw.length >> 1] as number;
  const lift = raw.map((value) => value - common);
  let differing = 0;
  const changed = Uint8Array.from(lift, (value, cell) => {
    const least = Math.max(LEAST_CHANGE, 3 * Math.min(4, known.noise[cell] as number));
    if (Math.abs(value) <= least) return 0;
    differing += 1;
    const step = Math.abs((luma[cell] as number) - (known.last[cell] as number));
    return step <= Math.max(LEAST_STEP, STEP_SHARE * Math.abs(value)) ? 1 : 0;
  });
  return { lift, detailBefore: known.detail.slice(), changed, differing };
}

/** A plain mean of the first frames, later one that forgets; noise is learnt where nothing else changes fast. */
function learn(known: Known, { luma, detail }: FireObservation, timeMs: number): void {
  const passed = Math.max(0, timeMs - known.timeMs);
  known.frames += 1;
  known.timeMs = timeMs;
  const share = Math.max(1 - Math.exp(-passed / FORGET_MS), 1 / known.frames);
  for (let cell = 0; cell < luma.length; cell += 1) {
    const value = luma[cell] as number;
    known.luma[cell] = (known.luma[cell] as number) * (1 - share) + value * share;
    known.detail[cell] = (known.detail[cell] as number) * (1 - share) + (detail[cell] as number) * share;
    const step = Math.min(6, Math.abs(value - (known.last[cell] as number)));
    known.noise[cell] = (known.noise[cell] as number) * 0.95 + step * 0.05;
  }
  known.last = luma;
}
