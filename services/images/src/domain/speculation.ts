import { LRUCache } from 'lru-cache';
import type { KeyId } from './image-call.ts';

/**
 * Which calls may speculate: have their images detected before their key is claimed and their units are reserved. The
 * last known units of the subject decide: with units to spare it may; unknown, with few left or just refused it may
 * not. So a caller without units causes detections only within the limit of slots, until its refusal is known here.
 */
export interface Speculation {
  /** Records the remaining units of the day that quota reported for the subject. */
  noteUnitsLeft: (subject: string, left: number) => void;
  /** Records that units were granted to a call. */
  noteTaken: (subject: string, units: number) => void;
  /** Records that an admitted call was refused: its subject may not speculate for a while, even with units left. */
  noteRefused: (subject: string) => void;
  /** Whether the subject is known to have more units left than one call can take. */
  hasUnitsToSpare: (subject: string) => boolean;
  /** Reserves a slot; undefined when the call may not speculate. */
  begin: (id: KeyId, units: number) => SpeculationSlot | undefined;
}

interface SpeculationSlot {
  /** Frees the slot once the call is confirmed or refused. */
  end: () => void;
}

export interface SpeculationLimits {
  /** Maximum of concurrently speculating calls of all subjects. One subject gets half of the slots, at least one. */
  slots: number;
}

/** Units that must remain beyond those of a call: other replicas may take some unnoticed. */
const TO_SPARE = 10;
/** Maximum units of one call. */
const LARGEST_CALL = 10;
const REMEMBERED = 10_000;
/** How long a reported remainder of a subject is valid. */
const KNOWN_FOR_MS = 30_000;

interface Known {
  left: number;
  /** Until then, reported remainders of the day are ignored. */
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
      // Of the calls with one key, only one can be confirmed.
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
