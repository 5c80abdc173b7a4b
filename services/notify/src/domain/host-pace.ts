/** Limits the rate of requests to one host, over all subjects. */
export interface HostPace {
  /** Milliseconds until a request to the host may begin; the request is counted. */
  delayOf: (host: string) => number;
}

const MOST_HOSTS = 10_000;

/** At most `perSecond` requests begin within a second for each host, over all subjects of this process. */
export function createHostPace(perSecond: number, now = () => performance.now()): HostPace {
  /** Earliest start of the next request to a host at an even rate; a burst of one second is allowed. */
  const next = new Map<string, number>();
  const gapMs = 1_000 / perSecond;
  return {
    delayOf: (host) => {
      const at = now();
      const from = Math.max(next.get(host) ?? 0, at - 1_000 + gapMs);
      next.delete(host);
      next.set(host, from + gapMs);
      if (next.size > MOST_HOSTS) forgetIdle(next, at);
      return Math.max(0, from - at);
    },
  };
}

/** Removes hosts that had no request for a second; the oldest are first. */
function forgetIdle(next: Map<string, number>, at: number): void {
  for (const [host, from] of next) {
    if (from > at - 1_000) return;
    next.delete(host);
  }
}
