import { problemOf } from './problem.ts';

/** What an attempt had instead of an answer: the connection failed, or the answer took too long. */
export class NetworkFault {
  readonly cause: unknown;

  constructor(cause: unknown) {
    this.cause = cause;
  }
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const RETRIED = [429, 502, 503, 504];

/** How long failures may go on; an answer ends the series. */
export class Retries {
  readonly #maxMs: number;
  #failures = 0;
  #deadline: number | undefined;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#deadline = undefined;
  }

  /**
   * Milliseconds to wait before the next attempt; undefined when there should be none. `Retry-After` is waited for
   * entirely, and a random part is added, so that clients do not return at the same moment.
   */
  waitAfter(outcome: Response | NetworkFault): number | undefined {
    const now = Date.now();
    this.#deadline ??= now + this.#maxMs;
    const backoff = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures += 1;
    const asked = outcome instanceof NetworkFault ? undefined : retryAfterOf(outcome, now);
    const wait = asked === undefined ? backoff * (0.5 + Math.random() / 2) : asked + Math.random() * backoff;
    return now + wait > this.#deadline ? undefined : wait;
  }
}

/** True if the unchanged request may succeed later. */
export async function isWorthRetrying(response: Response): Promise<boolean> {
  return RETRIED.includes(response.status) && (await problemOf(response))?.retryable !== false;
}

/** Sends until there is an answer other than "later", or until the failures have gone on for `maxMs`. */
export async function sendWithRetries(
  send: () => Promise<Response>,
  { maxMs, signal }: { maxMs: number; signal?: AbortSignal | undefined },
): Promise<Response> {
  const retries = new Retries(maxMs);
  for (;;) {
    const outcome = await outcomeOf(send, signal);
    if (outcome instanceof Response && !(await isWorthRetrying(outcome))) return outcome;
    const wait = retries.waitAfter(outcome);
    if (wait !== undefined) await pause(wait, signal);
    else if (outcome instanceof NetworkFault) throw outcome.cause;
    else return outcome;
  }
}

/** What an attempt led to. An abort by the caller and errors that are no network faults are thrown. */
async function outcomeOf(
  send: () => Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response | NetworkFault> {
  try {
    return await send();
  } catch (error) {
    signal?.throwIfAborted();
    if (!isNetworkFault(error)) throw error;
    return new NetworkFault(error);
  }
}

/** `fetch` rejects with a TypeError when a connection fails; by name, as it may come from another realm. */
export const isNetworkFault = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'name' in error &&
  ['TypeError', 'TimeoutError'].includes(String(error.name));

/** Timers beyond it fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits; rejects with the reason of the signal when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Seconds or a date, as milliseconds from now. */
function retryAfterOf({ headers }: Response, now: number): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
