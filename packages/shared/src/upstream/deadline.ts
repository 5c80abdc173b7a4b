import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Milliseconds that the caller will still wait for the answer, counted from when the whole request is there. Only
 * services of ours are believed.
 */
export const deadlineHeader = 'x-deadline-ms';

/** The time that one request has left. */
export interface Deadline {
  /** Milliseconds; all of them as long as the request is still arriving. Below 0 when it is over. */
  leftMs: () => number;
  /** Whether work ends with it. A create goes on: its caller comes back with the same key. */
  isBinding: boolean;
}

const active = new AsyncLocalStorage<Deadline | undefined>();

/** The deadline of the request that this work is for; undefined for work of our own. */
export const activeDeadline = (): Deadline | undefined => active.getStore();

export const withDeadline = <T>(deadline: Deadline | undefined, work: () => T): T =>
  deadline ? active.run(deadline, work) : work();

/** Runs work that many requests share, and that ends with none of them. */
export const withoutDeadline = <T>(work: () => T): T => active.run(undefined, work);

/** Reads the header of another service; undefined for what is no time. */
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
