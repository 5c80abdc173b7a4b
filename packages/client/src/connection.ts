import { sendWithRetries } from './retries.ts';

export interface ClientOptions {
  /** Address of the service, such as `https://vision.example.com`. */
  baseUrl: string;
  apiKey: string;
  /** Replaces the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Longest series of failed attempts in milliseconds, 60,000 by default; 0 never repeats a request. */
  maxRetryMs?: number;
}

/** How the client reaches the service. */
export interface Connection {
  baseUrl: string;
  authorization: string;
  maxRetryMs: number;
  /** One attempt; uses up the request. Takes `limitMs` at most until the head, and a JSON body, have arrived. */
  attempt: (request: Request, limitMs?: number) => Promise<Response>;
  /** Repeats a request with the same Idempotency-Key until it is answered. */
  fetch: (request: Request) => Promise<Response>;
}

const ANSWER_LIMIT_MS = 120_000;

export function createConnection(options: ClientOptions): Connection {
  const { apiKey, fetch = (request: Request) => globalThis.fetch(request), maxRetryMs = 60_000 } = options;
  const attempt = async (request: Request, limitMs = ANSWER_LIMIT_MS) => {
    const limit = new AbortController();
    const expire = () => limit.abort(new DOMException('the service did not answer in time', 'TimeoutError'));
    const timer = setTimeout(expire, limitMs);
    const signal = AbortSignal.any([request.signal, limit.signal]);
    try {
      return await wholeJson(await fetch(new Request(request, { signal })));
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    baseUrl: new URL(options.baseUrl).href.replace(/\/+$/, ''),
    authorization: `Bearer ${apiKey}`,
    maxRetryMs,
    attempt,
    fetch: (request) => sendWithRetries(() => attempt(request.clone()), { maxMs: maxRetryMs, signal: request.signal }),
  };
}

/** The answer with a JSON body that has been read: a connection that breaks in it is a failed attempt. */
async function wholeJson(response: Response): Promise<Response> {
  const { status, statusText, headers, body } = response;
  if (body === null || !(headers.get('content-type') ?? '').includes('json')) return response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

/** A random UUID (version 4). `crypto.randomUUID` is missing on pages that were not loaded by https. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
