import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { unlessAborted } from '../async/unless-aborted.ts';
import { IDLE_CONNECTION_MS } from './idle-connection.ts';
import { readBody } from './read-body.ts';

/**
 * A call took longer than its deadline. Its client span has this name as `error.type`; a `code` would take its place.
 */
export class UpstreamTimeoutError extends Error {
  override readonly name = 'UpstreamTimeoutError';
}

/** The request may or may not have reached the other side, or surely did not. */
export class CallError extends Error {
  override readonly name = 'CallError';
  /** true when not one byte of the request can have been received. */
  readonly surelyNotSent: boolean;
  readonly reason: 'connect_failed' | 'name_unknown' | 'timeout' | 'aborted' | 'connection_lost' | 'reply_unreadable';

  constructor(reason: CallError['reason'], surelyNotSent: boolean, cause: unknown) {
    super(`call failed: ${reason}`, { cause });
    this.reason = reason;
    this.surelyNotSent = surelyNotSent;
  }
}

export interface CallRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers?: Record<string, string> | undefined;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is; set the content type in `headers`, and the length of a stream. */
  bytes?: Buffer | Readable | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  dispatcher?: Dispatcher | undefined;
}

export interface CallReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON, or undefined when the body is empty or no JSON. */
  body: unknown;
}

const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/** Of all calls that bring none of their own; a server that promises to wait longer is not believed. */
const connections = new Agent({ keepAliveTimeout: IDLE_CONNECTION_MS, keepAliveMaxTimeout: IDLE_CONNECTION_MS });

/**
 * One HTTP call with a deadline for the whole exchange. Any status is a reply; no redirect is followed.
 * @throws CallError when there is no complete reply; `surelyNotSent` goes by whether the writing of the
 * request was begun.
 */
export async function call(input: CallRequest): Promise<CallReply> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new UpstreamTimeoutError(`no reply within ${input.timeoutMs} ms`)),
    input.timeoutMs,
  );
  const onAbort = () => controller.abort(input.signal?.reason);
  input.signal?.addEventListener('abort', onAbort, { once: true });
  if (input.signal?.aborted) onAbort();
  const wire = { begun: false };
  const exchange = exchangeOnce(input, controller.signal, wire);
  try {
    // The client listens to the signal only once it has a connection; until then nothing else ends the wait.
    return await unlessAborted(controller.signal, exchange);
  } catch (error) {
    // The caller ended the call and knows why; this says nothing about the other side.
    if (input.signal?.aborted && error === input.signal.reason) throw new CallError('aborted', !wire.begun, error);
    throw asCallError(error, wire.begun);
  } finally {
    clearTimeout(timer);
    input.signal?.removeEventListener('abort', onAbort);
  }
}

async function exchangeOnce(input: CallRequest, signal: AbortSignal, wire: { begun: boolean }): Promise<CallReply> {
  const reply = await request(input.url, {
    method: input.method,
    headers: { ...(input.json === undefined ? {} : { 'content-type': 'application/json' }), ...input.headers },
    body: input.json === undefined ? (input.bytes ?? null) : JSON.stringify(input.json),
    signal,
    headersTimeout: input.timeoutMs,
    bodyTimeout: input.timeoutMs,
    dispatcher: (input.dispatcher ?? connections).compose(noting(wire)),
  });
  return { status: reply.statusCode, headers: reply.headers, body: await readReply(reply.body) };
}

/** Parses a reply body; undefined when it does not have the promised shape. */
export function bodyAs<T>(schema: z.ZodType<T>, reply: CallReply): T | undefined {
  const parsed = schema.safeParse(reply.body);
  return parsed.success ? parsed.data : undefined;
}

async function readReply(body: AsyncIterable<Buffer>): Promise<unknown> {
  const bytes = await readBody(body, MAX_REPLY_BYTES);
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Notes when the client begins to write a request. Refused connections, timeouts and TLS errors happen before that. */
function noting(wire: { begun: boolean }): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => {
        wire.begun = true;
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...seen) => handler.onRequestUpgrade?.(...seen),
      onResponseStart: (...seen) => handler.onResponseStart?.(...seen),
      onResponseData: (...seen) => handler.onResponseData?.(...seen),
      onResponseEnd: (...seen) => handler.onResponseEnd?.(...seen),
      onResponseError: (...seen) => handler.onResponseError?.(...seen),
    });
}

function asCallError(error: unknown, begun: boolean): CallError {
  if (error instanceof CallError) return error;
  const code = (error as { code?: string } | null)?.code ?? '';
  if (!begun) return new CallError(isNameFault(code) ? 'name_unknown' : 'connect_failed', true, error);
  if (error instanceof UpstreamTimeoutError || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new CallError('timeout', false, error);
  }
  return new CallError('connection_lost', false, error);
}

const isNameFault = (code: string) => code === 'ENOTFOUND' || code === 'EAI_AGAIN';
