/** A track has ended when the newest frame of its task is this much later than its own last frame. */
const TRACK_ENDS_AFTER_MS = 3_000;
const SECOND_MS = 1_000;
/** A backend that reports a lower rate is not believed: it would keep tracks open and hide gaps for long. */
const LONGEST_PERIOD_MS = 30_000;

/** Time that a frame covers, by the rate at which the source is sampled. */
export interface Pace {
  /** A track ends when no frame in this time after its last one has the object. */
  trackEndsAfterMs: number;
  /** Seconds that a frame covers, its own included. */
  coveredSeconds: number;
}

/** The pace of a source that is sampled at this rate; an unknown rate counts as 2 frames a second or more. */
export function paceOf(sampleFps: number | null | undefined): Pace {
  const periodMs = sampleFps ? Math.min(SECOND_MS / sampleFps, LONGEST_PERIOD_MS) : 0;
  return {
    trackEndsAfterMs: Math.max(TRACK_ENDS_AFTER_MS, Math.ceil(2 * periodMs)),
    coveredSeconds: Math.max(1, Math.ceil((2 * periodMs) / SECOND_MS)),
  };
}
