/** What a worker may still do for a job that it holds. */
export interface Hold {
  /** Aborts when no further frame is wanted: the caller stopped the job, or the worker lets go of it. */
  reading: AbortSignal;
  /** Aborts when nothing may be published any more: the job may belong to another attempt, or the grace is over. */
  publishing: AbortSignal;
  /** Ends the hold when its time is over. Call it before each step that others can see: timers may be late. */
  check: () => void;
  isStopRequested: () => boolean;
  /** Whether the job belongs, or may belong, to another attempt. */
  isLost: () => boolean;
}

export interface HoldControl extends Hold {
  /** The caller wants the job to stop: what was read is still published, however long that takes. */
  requestStop: () => void;
  /** This worker ends: what was read may still be published for a while, the rest is left to another worker. */
  letGo: (graceMs: number) => void;
  /** The lease was renewed: the job is held until `untilMs` of the monotonic clock. */
  renewed: (untilMs: number) => void;
  /** The job belongs to another attempt: from now on this one is silent. */
  lose: () => void;
}

export interface HoldOptions {
  /** Instant of the monotonic clock (`performance.now()`) at which the hold ends unless it is renewed. */
  untilMs: number;
  /** Called once when the hold ends because it was not renewed in time. */
  onExpired: () => void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A job is held until an instant before its lease ends: a worker that cannot renew stops publishing before another may
 * claim the job. */
export function createHold({ untilMs, onExpired }: HoldOptions): HoldControl {
  const reading = new AbortController();
  const publishing = new AbortController();
  let isStopRequested = false;
  let isLost = false;
  let heldUntilMs = untilMs;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    isLost = true;
    clearTimeout(timer);
    reading.abort();
    publishing.abort();
  };
  const check = () => {
    if (isLost || performance.now() < heldUntilMs) return;
    end();
    onExpired();
  };
  const arm = () => {
    clearTimeout(timer);
    const leftMs = Math.max(1, Math.min(heldUntilMs - performance.now(), LONGEST_TIMER_MS));
    timer = setTimeout(() => {
      check();
      if (!isLost) arm();
    }, leftMs).unref();
  };
  arm();
  return {
    reading: reading.signal,
    publishing: publishing.signal,
    check,
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
    renewed: (until) => {
      // The hold may have ended while the answer was under way; it does not come back.
      check();
      if (isLost || until <= heldUntilMs) return;
      heldUntilMs = until;
      arm();
    },
    lose: end,
  };
}
