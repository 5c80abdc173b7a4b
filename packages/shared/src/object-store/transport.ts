import type { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import https from 'node:https';
import { atMost } from '../async/at-most.ts';

export interface S3Call {
  signal: AbortSignal | undefined;
  /** For an upload that may be given up: its requests under way, and whether it may begin another one. */
  exchanges?: { inFlight: Set<ClientRequest>; isOver: boolean } | undefined;
}

/** Stops an upload from beginning requests, and waits at most `waitMs` for those under way. */
export async function endExchanges(exchanges: NonNullable<S3Call['exchanges']>, waitMs: number): Promise<void> {
  exchanges.isOver = true;
  const closed = [...exchanges.inFlight].map((outgoing) => new Promise((resolve) => outgoing.once('close', resolve)));
  await atMost(waitMs, Promise.all(closed));
}

/** The client throws for these without reading the body; unread, it would occupy the connection. */
const UNREAD_STATUSES = new Set([408, 429, 499, 500, 502, 503, 504, 520]);

/**
 * How the S3 client reaches the network: a bounded keep-alive agent, an idle limit per request, and the abort signal of
 * the call that is being made, which the client itself has no parameter for.
 */
export function createS3Transport(
  calls: AsyncLocalStorage<S3Call>,
  { useSSL, maxSockets, idleMs }: { useSSL: boolean; maxSockets: number; idleMs: number },
) {
  const { Agent, request } = useSSL ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets, maxFreeSockets: maxSockets, scheduling: 'lifo' });
  const send = (options: RequestOptions, onReply?: (reply: IncomingMessage) => void): ClientRequest => {
    const { signal, exchanges } = calls.getStore() ?? {};
    if (exchanges?.isOver) throw new Error('the upload was given up');
    const outgoing = request({ ...options, ...(signal ? { signal } : {}) }, (reply) => {
      if (UNREAD_STATUSES.has(reply.statusCode ?? 0)) reply.resume();
      onReply?.(reply);
    });
    outgoing.setTimeout(idleMs, () => {
      outgoing.destroy(Object.assign(new Error(`no progress for ${idleMs} ms`), { code: 'ETIMEDOUT' }));
    });
    exchanges?.inFlight.add(outgoing);
    outgoing.once('close', () => exchanges?.inFlight.delete(outgoing));
    return outgoing;
  };
  return { agent, transport: { request: send as typeof http.request } };
}
