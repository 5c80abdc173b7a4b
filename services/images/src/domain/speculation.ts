import { LRUCache } from 'lru-cache';
import type { KeyId } from './image-call.ts';

/**
 * Which calls may speculate: have their images detected before their key is claimed and their units are reserved. The
 * last known units of the subject decide: with units to spare it may; unknown, with few left or just refused it may
 * not. So a caller without units causes detections only within the limit of slots, until its refusal is known here.
 */
export interface Speculation {
  /** What quota said is left of the subject's day. */
  noteUnitsLeft: (subject: string, left: number) => void;
  /** Units were granted to a call. */
  noteTaken: (subject: string, units: number) => void;
  /** A call was refused after it had been admitted: its subject may not speculate for a while, even with units left. */
  noteRefused: (subject: string) => void;
  /** Whether more is known to be left than a call can take. */
  hasUnitsToSpare: (subject: string) => boolean;
  /** Undefined when the call has to run in order. */
  begin: (id: KeyId, units: number) => SpeculationSlot | undefined;
}

interface SpeculationSlot {
  /** The call is confirmed or refused, and its slot is free again. */
  end: () => void;
}

export interface SpeculationLimits {
  /** Calls of all subjects that may speculate at once. One subject gets half of the slots, and one at least. */
  slots: number;
}

/** Units that have to be left beyond those of a call: other replicas may take some without our knowledge. */
const TO_SPARE = 10;
/** The most that a call takes. */
const LARGEST_CALL = 10;
const REMEMBERED = 10_000;
/** How long what quota said of a subject counts. */
const KNOWN_FOR_MS = 30_000;

interface Known {
  left: number;
  /** What quota says of the day does not count meanwhile. */
  isBarred?: boolean;
  /** By `performance.now()`. */
  until: number;
}

export function createSpeculation({ slots }: SpeculationLimits): Speculation {
  const known = new LRUCache<string, Known>({ max: REMEMBERED });
  const ahead = new Map<string, { calls: number; units: number }>();
  const keys = new Set<string>();
  const perSubject = Math.max(1, Math.floor(slots / 2));

  const freshOf = (subject: string): Known | undefined => {
    const entry = known.get(subject);
    return entry && performance.now() < entry.until ? entry : undefined;
  };
  const leftOf = (subject: string): number => (freshOf(subject)?.left ?? 0) - (ahead.get(subject)?.units ?? 0);
  const until = () => performance.now() + KNOWN_FOR_MS;
  return {
    noteUnitsLeft: (subject, left) => {
      if (!freshOf(subject)?.isBarred) known.set(subject, { left, until: until() });
    },
    noteTaken: (subject, units) => {
      const entry = known.get(subject);
      if (entry) entry.left -= units;
    },
    noteRefused: (subject) => void known.set(subject, { left: 0, isBarred: true, until: until() }),
    hasUnitsToSpare: (subject) => leftOf(subject) >= LARGEST_CALL + TO_SPARE,
    begin: ({ subject, key }, units) => {
      const own = ahead.get(subject) ?? { calls: 0, units: 0 };
      const id = JSON.stringify([subject, key]);
      const isFull = keys.size >= slots || own.calls >= perSubject;
      // Of calls with one key only one is confirmed.
      if (isFull || keys.has(id) || leftOf(subject) < units + TO_SPARE) return undefined;
      keys.add(id);
      ahead.set(subject, { calls: own.calls + 1, units: own.units + units });
      return {
        end: () => {
          if (!keys.delete(id)) return;
          const { calls, units: all } = ahead.get(subject) ?? { calls: 1, units };
          if (calls === 1) ahead.delete(subject);
          else ahead.set(subject, { calls: calls - 1, units: all - units });
        },
      };
    },
  };
}
