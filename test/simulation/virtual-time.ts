import { createRequire, syncBuiltinESMExports } from 'node:module';
import FakeTimers from '@sinonjs/fake-timers';

/** Instant at which every schedule begins. */
const START = new Date('2026-01-15T12:00:00.000Z');

/** Time of one schedule: of its processes (timers, `performance.now`, dates) and of its database alike. */
export interface VirtualTime {
  now: () => Date;
  /** Fires the timers of so many milliseconds. */
  advance: (ms: number) => Promise<void>;
  /** Goes to the next timer. */
  toNextTimer: () => Promise<void>;
  /** Forgets all timers and goes back to the beginning. */
  restart: () => void;
}

/** The clock of this machine, which is hidden once `replaceTime` was called. */
export const realNow = performance.now.bind(performance);
/** The date of this machine, in milliseconds. */
export const realDate = Date.now.bind(Date);
const realSetTimeout = setTimeout;
export const realDelay = (ms: number) => new Promise<void>((done) => void realSetTimeout(done, ms));
/** Resolves when everything that could go on without an answer from outside did. */
export const turn = () => new Promise<void>((done) => void setImmediate(done));

/** Replaces time for this process: nothing passes by itself any more. */
export function replaceTime(): VirtualTime {
  const clock = FakeTimers.install({
    now: START,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  // Modules that have imported `setTimeout` of this one see the replaced one.
  createRequire(import.meta.url)('node:timers/promises');
  syncBuiltinESMExports();
  return {
    now: () => new Date(clock.now),
    advance: async (ms) => {
      await clock.tickAsync(ms);
    },
    toNextTimer: async () => {
      await clock.nextAsync();
    },
    restart: () => {
      clock.reset();
      clock.setSystemTime(START);
    },
  };
}
