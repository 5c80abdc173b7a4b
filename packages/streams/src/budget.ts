import { setTimeout as delay } from 'node:timers/promises';
import { SourceError } from './source-error.ts';

/** What a stream may cost: bytes, and parts, each of which takes time to read however small it is. */
export interface Budget {
  /** Counts what was read. */
  spend: (read: { bytes?: number; parts?: number }) => void;
  /**
   * Waits until more may be read. Nothing is taken from the socket meanwhile, so the sender has to wait too.
   * @throws SourceError `too_much_data` for a stream that was slowed for 60 of the last 120 seconds
   */
  ready: () => Promise<void>;
  /** For the reader of the stream's next connection. */
  usage: () => BudgetUsage;
}

/** What a stream has used. Times are milliseconds of the clock that all processes of a machine share. */
export interface BudgetUsage {
  /** When the rate will have made up for all that was read. */
  bytesPaidAt: number;
  partsPaidAt: number;
  /** Slots of time in which the stream was slowed, and for how many milliseconds of each. */
  slowed: (readonly [slot: number, ms: number])[];
}

export interface Clock {
  now: () => number;
  wait: (ms: number) => Promise<void>;
}

/** 8 MB and 10,000 parts a second: twice the bytes and four times the packets of a 4K camera at 30 Mbit/s. */
const BYTES_PER_MS = 8_000;
const PARTS_PER_MS = 10;
/** Bytes and parts of this time may come at once: 32 MB and 40,000 parts. */
const AHEAD_MS = 4_000;

/** Many short waits would each take longer than they are counted for. */
const SHORTEST_WAIT_MS = 25;

const SLOT_MS = 5_000;
/** Slots that count: 120 seconds. */
export const SLOTS = 24;
const MAX_SLOWED_MS = 60_000;

/**
 * The budget of one stream. `usage` is that of its connections before this one.
 *
 * Source: two token buckets in the form of the generic cell rate algorithm (ITU-T I.371), waiting in place of refusing.
 */
export function createBudget({ usage, signal, clock = systemClock(signal) }: BudgetOptions): Budget {
  let bytesPaidAt = usage?.bytesPaidAt ?? 0;
  let partsPaidAt = usage?.partsPaidAt ?? 0;
  const slowed = new Map(usage?.slowed);

  const forgetBefore = (slot: number) => {
    for (const old of slowed.keys()) if (old <= slot) slowed.delete(old);
  };
  /** What was to be waited, not what a busy machine made of it. */
  const noteSlowed = (ms: number) => {
    const slot = Math.floor(clock.now() / SLOT_MS);
    slowed.set(slot, (slowed.get(slot) ?? 0) + ms);
    forgetBefore(slot - SLOTS);
    const sum = [...slowed.values()].reduce((total, each) => total + each, 0);
    if (sum >= MAX_SLOWED_MS) throw new SourceError('too_much_data');
  };
  const missingMs = () => Math.max(bytesPaidAt, partsPaidAt) - AHEAD_MS - clock.now();

  return {
    spend: ({ bytes = 0, parts = 0 }) => {
      const now = clock.now();
      bytesPaidAt = Math.max(bytesPaidAt, now) + bytes / BYTES_PER_MS;
      partsPaidAt = Math.max(partsPaidAt, now) + parts / PARTS_PER_MS;
    },
    ready: async () => {
      for (let ms = missingMs(); ms > 0; ms = missingMs()) {
        const waitMs = Math.min(Math.max(ms, SHORTEST_WAIT_MS), SLOT_MS);
        noteSlowed(waitMs);
        await clock.wait(waitMs);
      }
    },
    usage: () => {
      const entries = [...slowed].map(([slot, ms]) => [slot, Math.ceil(ms)] as const);
      return { bytesPaidAt: Math.ceil(bytesPaidAt), partsPaidAt: Math.ceil(partsPaidAt), slowed: entries };
    },
  };
}

interface BudgetOptions {
  usage?: BudgetUsage | undefined;
  /** Ends every wait. */
  signal: AbortSignal;
  clock?: Clock;
}

/** The monotonic clock of the system: the next connection of a stream is read by another process. */
export function systemClock(signal: AbortSignal): Clock {
  return {
    now: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
    wait: (ms) => delay(ms, undefined, { signal }),
  };
}
