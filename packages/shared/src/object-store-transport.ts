import type { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import https from 'node:https';

export interface S3Call {
  signal: AbortSignal | undefined;
}

/** The client answers these with an error of its own without reading the body, which would keep the connection. */
const UNREAD_STATUSES = new Set([408, 429, 499, 500, 502, 503, 504, 520]);

/**
 * How the S3 client reaches the network: a bounded keep-alive agent, an idle limit per request, and the abort signal of the
 * call that is being made, which the client itself has no parameter for.
 */
export function createS3Transport(
  calls: AsyncLocalStorage<S3Call>,
  { useSSL, maxSockets, idleMs }: { useSSL: boolean; maxSockets: number; idleMs: number },
) {
  const { Agent, request } = useSSL ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets, maxFreeSockets: maxSockets, scheduling: 'lifo' });
  const send = (options: RequestOptions, onReply?: (reply: IncomingMessage) => void): ClientRequest => {
    const signal = calls.getStore()?.signal;
    const outgoing = request({ ...options, ...(signal ? { signal } : {}) }, (reply) => {
      if (UNREAD_STATUSES.has(reply.statusCode ?? 0)) reply.resume();
      onReply?.(reply);
    });
    outgoing.setTimeout(idleMs, () => {
      outgoing.destroy(Object.assign(new Error(`no progress for ${idleMs} ms`), { code: 'ETIMEDOUT' }));
    });
    return outgoing;
  };
  return { agent, transport: { request: send as typeof http.request } };
}
