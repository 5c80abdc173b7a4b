const TICK_MS = 250;
// A late tick means that this process stood still; that time does not count as silence of the source.
const LONGEST_STEP_MS = 2 * TICK_MS;

/** Calls `onQuiet` once when nothing was heard for `limitMs` of time in which this process could have heard it. */
export function watchQuiet(limitMs: number, onQuiet: () => void) {
  let quietMs = 0;
  let lastTick = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    quietMs += Math.min(now - lastTick, LONGEST_STEP_MS);
    lastTick = now;
    if (quietMs < limitMs) return;
    clearInterval(timer);
    onQuiet();
  }, TICK_MS);
  return {
    isOver: () => quietMs >= limitMs,
    heard: () => {
      quietMs = 0;
    },
    stop: () => clearInterval(timer),
  };
}
