import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Milliseconds that the caller will still wait for the response, counted from the arrival of the whole request.
 * Accepted from our own services only.
 */
export const deadlineHeader = 'x-deadline-ms';

/** The time that one request has left. */
export interface Deadline {
  /** Remaining milliseconds; the full budget while the request is still arriving. Below 0 after the deadline. */
  leftMs: () => number;
  /** Whether work ends at the deadline. A create request continues: its caller retries with the same key. */
  isBinding: boolean;
}

const active = new AsyncLocalStorage<Deadline | undefined>();

/** The deadline of the request that this work is for; undefined for work of our own. */
export const activeDeadline = (): Deadline | undefined => active.getStore();

export const withDeadline = <T>(deadline: Deadline | undefined, work: () => T): T =>
  deadline ? active.run(deadline, work) : work();

/** Runs work that many requests share, without the deadline of any of them. */
export const withoutDeadline = <T>(work: () => T): T => active.run(undefined, work);

/** Reads the header of another service; undefined if it is no valid time. */
export function readDeadline(text: string | string[] | undefined): number | undefined {
  if (typeof text !== 'string' || !/^\d{1,9}$/.test(text)) return undefined;
  return Number(text);
}

/** A deadline that begins to count when `start` is called. */
export function createDeadline(budgetMs: number, isBinding: boolean): Deadline & { start: () => void } {
  let startedAt: number | undefined;
  return {
    isBinding,
    start: () => {
      startedAt ??= performance.now();
    },
    leftMs: () => budgetMs - (startedAt === undefined ? 0 : performance.now() - startedAt),
  };
}

/** The limit of a call: its own, or what is left of the request when that is less and binds. */
export function limitWithin(limitMs: number): { limitMs: number; isDeadline: boolean } {
  const deadline = activeDeadline();
  const left = deadline?.isBinding ? Math.max(0, Math.floor(deadline.leftMs())) : Infinity;
  return left < limitMs ? { limitMs: left, isDeadline: true } : { limitMs, isDeadline: false };
}
