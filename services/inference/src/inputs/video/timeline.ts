const WRAP = 2 ** 32;
/** A longer step is no pause but a clock that was reset. */
const LONGEST_STEP_MS = 10_000;
const STEP_OF_A_NEW_CLOCK_MS = 40;
/** Room before the first time, for frames that are presented before the first one sent. */
const START_MS = 10_000;

/**
 * Milliseconds from 32-bit timestamps that wrap around (RTP, RTMP). They begin at 10 s; when the source's clock jumps,
 * they continue after one frame interval, so they are never negative.
 */
export function createTimeline(ticksPerSecond: number): (timestamp: number) => number {
  let last: number | undefined;
  let ticks = 0;
  let offsetMs = START_MS;
  return (timestamp) => {
    const step = last === undefined ? 0 : signedDifference(timestamp, last);
    last = timestamp;
    if (Math.abs(step * 1000) > LONGEST_STEP_MS * ticksPerSecond) {
      offsetMs += Math.round((ticks * 1000) / ticksPerSecond) + STEP_OF_A_NEW_CLOCK_MS;
      ticks = 0;
    } else ticks += step;
    return Math.max(0, offsetMs + Math.round((ticks * 1000) / ticksPerSecond));
  };
}

/** The difference of two timestamps modulo 2³², by the shorter way around. */
function signedDifference(to: number, from: number): number {
  const difference = (to - from + WRAP) % WRAP;
  return difference < WRAP / 2 ? difference : difference - WRAP;
}
