import { Readable } from 'node:stream';
import type { Attributes } from '@opentelemetry/api';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { unlessAborted } from '../async/unless-aborted.ts';
import { addTraceHeaders } from '../telemetry/trace-context.ts';
import { callUpstream } from '../upstream/call-upstream.ts';
import type { UpstreamCall, UpstreamName } from '../upstream/call-upstream.ts';
import { outcomeOf } from '../upstream/classify.ts';
import type { CallOutcome } from '../upstream/error-type.ts';
import { deadlineHeader, limitWithin } from '../upstream/deadline.ts';
import { UpstreamTimeoutError } from '../upstream/ended-call.ts';
import { IDLE_CONNECTION_MS } from './idle-connection.ts';
import { readBody } from './read-body.ts';
import { newWire, noting, phaseOf } from './wire.ts';
import type { Wire } from './wire.ts';

/** The request may or may not have reached the other side, or surely did not. */
export class CallError extends Error {
  override readonly name = 'CallError';
  /** true when not one byte of the request can have been received. */
  readonly surelyNotSent: boolean;
  readonly reason: 'connect_failed' | 'name_unknown' | 'timeout' | 'aborted' | 'connection_lost';
  /** The same in the words of spans and metrics, which know more kinds. */
  readonly errorType: Exclude<CallOutcome, 'ok'>;

  constructor(reason: CallError['reason'], surelyNotSent: boolean, cause: unknown) {
    super(`call failed: ${reason}`, { cause });
    this.reason = reason;
    this.surelyNotSent = surelyNotSent;
    const known = outcomeOf(cause);
    this.errorType = known === 'failed' ? wordOfReason[reason] : known;
  }
}

const wordOfReason: Record<CallError['reason'], Exclude<CallOutcome, 'ok'>> = {
  connect_failed: 'connect_failed',
  name_unknown: 'name_unknown',
  timeout: 'total_timeout',
  aborted: 'canceled',
  connection_lost: 'connection_lost',
};

export interface CallRequest {
  /** Whom we ask, and for what; one of few words each, for spans and metrics. */
  upstream: UpstreamName;
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers?: Record<string, string> | undefined;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is; set the content type in `headers`, and the length of a stream. */
  bytes?: Buffer | Readable | undefined;
  /** For the whole exchange; less when the request that this is for has less time left and ends with it. */
  timeoutMs: number;
  /** What earlier calls for the same work left of it. */
  leftMs?: number | undefined;
  /** How a call with this answer ended, where the status alone does not tell it. */
  wordFor?: ((reply: CallReply) => CallOutcome | undefined) | undefined;
  /** Which try this is, of how many at most. */
  attempt?: { number: number; of: number } | undefined;
  /** State of the breaker that the call is made through. */
  breakerState?: string | undefined;
  /** Largest reply that is read; 32 MiB when absent. */
  maxReplyBytes?: number | undefined;
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
 * One HTTP call with a deadline for the whole exchange. Any status is a reply; no redirect is followed. The other side
 * receives our deadline.
 * @throws CallError when there is no complete reply; `surelyNotSent` goes by whether the writing of the
 * request was begun.
 */
export async function call(input: CallRequest): Promise<CallReply> {
  const { upstream, operation, attempt, breakerState } = input;
  const { limitMs, isDeadline } = limitWithin(Math.min(input.timeoutMs, input.leftMs ?? Infinity));
  const attributes = attributesOf(input);
  const options = { upstream, operation, limitMs, usualLimitMs: input.timeoutMs, attempt, breakerState, attributes };
  return callUpstream(options, (running) => callOnce({ ...input, timeoutMs: limitMs }, running, isDeadline));
}

async function callOnce(input: CallRequest, running: UpstreamCall, isDeadline: boolean): Promise<CallReply> {
  const controller = new AbortController();
  const wire = newWire();
  const timer = setTimeout(
    () => controller.abort(new UpstreamTimeoutError(isDeadline ? 'deadline_exceeded' : phaseOf(wire), input.timeoutMs)),
    input.timeoutMs,
  );
  const onAbort = () => controller.abort(input.signal?.reason);
  input.signal?.addEventListener('abort', onAbort, { once: true });
  if (input.signal?.aborted) onAbort();
  const exchange = sendOnce(input, { signal: controller.signal, wire, running });
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

interface CallInProgress {
  signal: AbortSignal;
  wire: Wire;
  running: UpstreamCall;
}

async function sendOnce(input: CallRequest, { signal, wire, running }: CallInProgress): Promise<CallReply> {
  const headers: Record<string, string> = { [deadlineHeader]: String(Math.ceil(input.timeoutMs)), ...input.headers };
  if (input.json !== undefined) headers['content-type'] = 'application/json';
  addTraceHeaders(headers);
  const reply = await request(input.url, {
    method: input.method,
    headers,
    body: bodyOf(input, { wire, running }),
    signal,
    // The timer above is the one limit; it also tells which part of the exchange was late.
    headersTimeout: 0,
    bodyTimeout: 0,
    dispatcher: (input.dispatcher ?? connections).compose(noting(wire)),
  });
  const body = await readReply(reply.body, input.maxReplyBytes ?? MAX_REPLY_BYTES);
  running.answered(reply.statusCode);
  const answer = { status: reply.statusCode, headers: reply.headers, body };
  const word = input.wordFor?.(answer);
  if (word) running.ended(word);
  return answer;
}

function bodyOf(
  { json, bytes }: CallRequest,
  { wire, running }: Pick<CallInProgress, 'wire' | 'running'>,
): string | Buffer | Readable | null {
  // Without a connection nothing is sent.
  const sent = (count: number) => running.sent(() => (wire.begun ? count : 0));
  if (json !== undefined) {
    const text = JSON.stringify(json);
    sent(Buffer.byteLength(text));
    return text;
  }
  if (bytes === undefined || Buffer.isBuffer(bytes)) {
    if (bytes) sent(bytes.length);
    return bytes ?? null;
  }
  return Readable.from(counted(bytes, running), { objectMode: false });
}

async function* counted(stream: Readable, running: UpstreamCall): AsyncGenerator<Buffer> {
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    running.sent(chunk.length);
    yield chunk;
  }
}

/** Neither path nor query: both name what is asked about. */
function attributesOf({ method, url }: CallRequest): Attributes {
  const { hostname, port, protocol } = new URL(url);
  const attributes: Attributes = { 'http.request.method': method, 'server.address': hostname };
  attributes['server.port'] = Number(port) || (protocol === 'https:' ? 443 : 80);
  return attributes;
}

/** Parses a reply body; undefined when it does not have the promised shape. */
export function bodyAs<T>(schema: z.ZodType<T>, reply: CallReply): T | undefined {
  const parsed = schema.safeParse(reply.body);
  return parsed.success ? parsed.data : undefined;
}

async function readReply(body: AsyncIterable<Buffer>, maxBytes: number): Promise<unknown> {
  const bytes = await readBody(body, maxBytes);
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function asCallError(error: unknown, begun: boolean): CallError {
  if (error instanceof CallError) return error;
  if (!begun)
    return new CallError(outcomeOf(error) === 'name_unknown' ? 'name_unknown' : 'connect_failed', true, error);
  return new CallError(error instanceof UpstreamTimeoutError ? 'timeout' : 'connection_lost', false, error);
}
