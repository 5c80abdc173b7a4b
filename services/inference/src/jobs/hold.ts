/** What a worker may still do for a job that it holds. */
export interface Hold {
  /** Aborts when no further frame is wanted: the caller stopped the job, or the worker lets go of it. */
  reading: AbortSignal;
  /** Aborts when nothing may be published any more: another attempt has the job, or the time to let go is over. */
  publishing: AbortSignal;
  isStopRequested: () => boolean;
  /** Whether the job belongs to another attempt. */
  isLost: () => boolean;
}

export interface HoldControl extends Hold {
  /** The caller wants the job to stop: what was read is still published, however long that takes. */
  requestStop: () => void;
  /** This worker ends: what was read may still be published for a while, the rest is left to another worker. */
  letGo: (graceMs: number) => void;
  /** The job belongs to another attempt: from now on this one is silent. */
  lose: () => void;
}

export function createHold(): HoldControl {
  const reading = new AbortController();
  const publishing = new AbortController();
  let isStopRequested = false;
  let isLost = false;
  return {
    reading: reading.signal,
    publishing: publishing.signal,
    isStopRequested: () => isStopRequested,
    isLost: () => isLost,
    requestStop: () => {
      isStopRequested = true;
      reading.abort();
    },
    letGo: (graceMs) => {
      reading.abort();
      setTimeout(() => publishing.abort(), graceMs).unref();
    },
    lose: () => {
      isLost = true;
      reading.abort();
      publishing.abort();
    },
  };
}
