import { eventsOf } from './event-stream.ts';
import { isNetworkFault, isWorthRetrying, NetworkFault, pause, Retries } from './retries.ts';
import { problemOf, readError } from './problem.ts';
import { queryText } from './query.ts';
import type { Connection } from './connection.ts';
import type { QueryValues } from './query.ts';
import type { Step } from './iterator.ts';

export interface ItemStream {
  path: string;
  query: QueryValues;
  cursor: string | undefined;
  signal: AbortSignal | undefined;
  /** Type of the server-sent events that are items; undefined: all that have data. */
  itemType: string | undefined;
}

/** The service sends a comment every 10 s. */
const SILENCE_MS = 30_000;
const RECONNECT_MS = 1000;
/** What a service may ask for instead: neither a storm of requests nor a reader that never comes back. */
const RECONNECT_BOUNDS = { leastMs: 100, mostMs: 60_000 };

/**
 * The items of a stream of server-sent events, over as many connections as it takes. Returns where pages have to go on,
 * undefined when all items were delivered: pages work where a proxy holds events back, where streams are used up, and
 * with releases that have none.
 */
export async function* streamItems<T>(
  connection: Connection,
  { path, query, cursor, signal, itemType }: ItemStream,
): AsyncGenerator<Step<T>, { pagesFrom: string | undefined } | undefined> {
  const retries = new Retries(connection.maxRetryMs);
  const url = `${connection.baseUrl}${path}${queryText(query)}`;
  let at = cursor;
  for (;;) {
    const silence = new Silence(signal);
    let waitMs: number | undefined = RECONNECT_MS;
    try {
      const response = await connection.attempt(requestFrom(connection, { url, at, signal: silence.signal }));
      if (response.status === 204) return undefined;
      if (!isEventStream(response)) {
        if (response.ok || (await wantsPages(response))) return { pagesFrom: at };
        waitMs = (await isWorthRetrying(response)) ? retries.waitAfter(response) : undefined;
        if (waitMs === undefined) throw await readError(response);
      } else {
        const onBytes = () => {
          silence.stop();
          retries.succeeded();
        };
        const onRetry = (ms: number) => (waitMs = reconnectIn(ms));
        for await (const event of eventsOf(response.body, { onRetry, onWait: () => silence.start(), onBytes })) {
          at = event.id || at;
          const isItem = event.data !== undefined && (itemType === undefined || event.type === itemType);
          yield isItem ? { cursor: at, item: JSON.parse(event.data ?? '') as T } : { cursor: at };
          if (event.type === 'end') return undefined;
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (silence.isTotal) return { pagesFrom: at };
      if (!isNetworkFault(error)) throw error;
      waitMs = retries.waitAfter(new NetworkFault(error));
      if (waitMs === undefined) throw error;
    } finally {
      silence.end();
    }
    await pause(waitMs, signal);
  }
}

const requestFrom = (
  { authorization }: Connection,
  { url, at, signal }: { url: string; at: string | undefined; signal: AbortSignal },
) =>
  new Request(url, {
    headers: { accept: 'text/event-stream', authorization, ...(at === undefined ? {} : { 'last-event-id': at }) },
    signal,
  });

const reconnectIn = (ms: number) => Math.min(Math.max(ms, RECONNECT_BOUNDS.leastMs), RECONNECT_BOUNDS.mostMs);

const isEventStream = (response: Response): response is Response & { body: ReadableStream<Uint8Array> } =>
  response.body !== null && (response.headers.get('content-type') ?? '').startsWith('text/event-stream');

/** No such operation in this release, or no stream left for this subject. */
async function wantsPages(response: Response): Promise<boolean> {
  const { reason, limit } = (await problemOf(response))?.details ?? {};
  return (
    [405, 406, 501].includes(response.status) ||
    (response.status === 404 && reason === 'not_found') ||
    (response.status === 429 && limit === 'event_streams')
  );
}

/** Aborts a connection on which nothing arrives. */
class Silence {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasHeard = false;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal ? AbortSignal.any([signal, this.#controller.signal]) : this.#controller.signal;
    this.start();
  }

  start(): void {
    this.stop(false);
    const expire = () => this.#controller.abort(new DOMException('the stream was silent', 'TimeoutError'));
    this.#timer = setTimeout(expire, SILENCE_MS);
  }

  stop(hasHeard = true): void {
    this.#hasHeard ||= hasHeard;
    clearTimeout(this.#timer);
  }

  /** Nothing at all arrived until the limit. */
  get isTotal(): boolean {
    return !this.#hasHeard && this.#controller.signal.aborted;
  }

  end(): void {
    this.stop(false);
    this.#controller.abort();
  }
}
