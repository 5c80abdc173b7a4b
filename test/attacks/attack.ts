import type { Caller } from '../support/system.ts';
import type { Inner } from './inner.ts';

/** One attack: what is sent, and what has to come back. */
export interface Attack {
  /** What is sent; unique in the suite. */
  name: string;
  /** What has to be seen, in the words of `attempt`. */
  expected: string;
  /** Longest time until it is seen; that of its group when absent. */
  withinMs?: number;
  /** Units that the caller of this attack is charged in the end; none when absent. */
  charged?: number;
  /** Tries it; returns what was seen, in a few words that are the same in every run. */
  attempt: (target: Target) => Promise<string>;
}

/** Attacks that want the same thing. */
export interface AttackGroup {
  title: string;
  /** What somebody would have gained. */
  wanted: string;
  withinMs: number;
  /** How many of them are tried at the same time. */
  atOnce: number;
  /** Goes on while other groups are tried: it mostly waits. */
  isPatient?: boolean;
  attacks: Attack[];
}

/** What one attack is given; parts are made when it asks for them, and are its own. */
export interface Target {
  /** A tenant with a key of its own. What it is charged is looked at when the attack is over. */
  caller: (limits?: Record<string, number>) => Promise<Caller>;
  /** A listener on an address that no stream may come from; it must never be reached. */
  inner: (port?: number) => Promise<Inner>;
  /** Does what the attack needs before it begins, which is no part of its time. */
  prepared: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs when the attack is over, last come first. */
  atEnd: (close: () => unknown) => void;
}

/** What came of an attack. */
export interface Outcome {
  seen: string;
  /** Undefined when nothing inner was named. */
  innerHits: number | undefined;
  charged: number;
  ms: number;
}
