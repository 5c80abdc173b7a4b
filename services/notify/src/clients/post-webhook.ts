import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { AddressError } from '@vision/shared/net/address-error';
import type { AddressPolicy } from '@vision/shared/net/address-policy';
import { inForeignSpan } from '@vision/shared/telemetry/foreign-span';
import { retryAfterOf } from '../domain/delivery.ts';
import type { Answer, AttemptOutcome } from '../domain/delivery.ts';
import type { WebhookUrl } from '../domain/webhook-url.ts';

interface WebhookTarget {
  url: WebhookUrl;
  /** Cancels the request, which then rejects with the reason of the signal. */
  signal: AbortSignal;
}

interface WebhookRequest extends WebhookTarget {
  /** Destination, as returned by `resolve`. */
  address: string;
  headers: Record<string, string>;
  body: string;
}

/** Sends webhooks. Never rejects because of a receiver or its name server. @throws the reason of the signal. */
export interface PostWebhook {
  /** The address to which a request will be sent, or the reason for none. */
  resolve: (target: WebhookTarget) => Promise<{ address: string } | Answer>;
  post: (request: WebhookRequest) => Promise<Answer>;
}

export interface PostOptions {
  policy: AddressPolicy;
  /** Time limit for name resolution, and for the connection with its TLS handshake. */
  connectMs: number;
  /** Time limit of a request up to the head of the response. */
  totalMs: number;
  /** Certificates to trust instead of those of Node.js. */
  ca?: string | undefined;
}

/** Limits for reading a response, so that a receiver can finish it; its content is discarded. */
const BODY = { bytes: 1024, ms: 1_000 } as const;

const RESOLVE_SPAN = { tracer: 'vision.webhooks', name: 'resolve a webhook host' };
const SPAN = { tracer: 'vision.webhooks', name: 'deliver a webhook' };

/** Maximum size of the head of a response; a longer one ends the request. */
const MAX_HEAD_BYTES = 16 * 1024;

/**
 * Builds the client that sends webhooks. The name is resolved for each request, every resolved address has to comply
 * with the address rules, and the request goes to that one address, so no later response of a name server redirects it.
 * Redirects are not followed. No socket stays open.
 */
export function createPostWebhook(options: PostOptions): PostWebhook {
  return {
    resolve: async ({ url, signal }) => {
      const limits = { deadlineMs: options.connectMs, signal };
      try {
        return { address: await inForeignSpan(RESOLVE_SPAN, url, () => options.policy.resolvePinned(url, limits)) };
      } catch (error) {
        signal.throwIfAborted();
        return { outcome: outcomeOf(error, false) };
      }
    },
    post: async ({ signal, ...request }) => {
      const late = AbortSignal.timeout(options.totalMs);
      const ending = AbortSignal.any([signal, late]);
      try {
        return await inForeignSpan(SPAN, request.url, () => post(options, { ...request, signal: ending }));
      } catch (error) {
        signal.throwIfAborted();
        return { outcome: outcomeOf(error, late.aborted) };
      }
    },
  };
}

async function post(options: PostOptions, asked: WebhookRequest): Promise<Answer> {
  const { url, signal } = asked;
  signal.throwIfAborted();
  const sending = send(options, asked);
  // Errors after the response, and those from ending it.
  sending.on('error', () => undefined);
  const onAbort = () => sending.destroy(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  const connectTimer = setTimeout(() => sending.destroy(new ConnectTimeoutError()), options.connectMs);
  sending.on('socket', (socket) => {
    socket.once(url.scheme === 'https' ? 'secureConnect' : 'connect', () => clearTimeout(connectTimer));
  });
  try {
    const reply = await replyTo(sending);
    await readSome(reply);
    return answerOf(reply);
  } finally {
    clearTimeout(connectTimer);
    signal.removeEventListener('abort', onAbort);
    sending.destroy();
  }
}

function send({ ca }: PostOptions, { url, address, headers, body }: WebhookRequest): ClientRequest {
  const start = url.scheme === 'https' ? httpsRequest : httpRequest;
  const sending = start({
    // The checked address; the name appears only in Host and in the TLS handshake.
    host: address,
    port: url.port,
    path: url.pathAndQuery,
    method: 'POST',
    agent: false,
    maxHeaderSize: MAX_HEAD_BYTES,
    ...(url.scheme === 'https' ? { servername: isIP(url.host) === 0 ? url.host.replace(/\.$/, '') : '' } : {}),
    ...(ca === undefined ? {} : { ca }),
    headers: {
      host: url.authority,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'vision-webhooks/1',
      connection: 'close',
      ...headers,
    },
  });
  sending.end(body);
  return sending;
}

class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError';
}

class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

function replyTo(sending: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sending.once('response', resolve);
    sending.once('error', reject);
    // A response that switches protocols ends the request without a response event or an error.
    sending.once('close', () => reject(new NoAnswerError()));
  });
}

/** Reads to the end of a response, or up to the limits. */
function readSome(reply: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(resolve, BODY.ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    reply.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > BODY.bytes) end();
    });
    for (const event of ['end', 'error', 'close']) reply.once(event, end);
  });
}

function answerOf(reply: IncomingMessage): Answer {
  const status = reply.statusCode ?? 0;
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  const isAsking = status === 429 || status === 503;
  const retryAfterMs = isAsking ? retryAfterOf(reply.headers['retry-after'], Date.now()) : undefined;
  return { outcome: 'http_status', status, retryAfterMs };
}

/** Callers receive only these outcomes: more would reveal hosts that they cannot reach. */
function outcomeOf(error: unknown, isLate: boolean): AttemptOutcome {
  if (isLate || error instanceof ConnectTimeoutError) return 'timeout';
  if (error instanceof AddressError) return 'unreachable';
  const code = String((error as NodeJS.ErrnoException).code);
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET|ERR_SSL|ERR_TLS|EPROTO/.test(code)
    ? 'tls_invalid'
    : 'unreachable';
}
