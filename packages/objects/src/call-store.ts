import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { Client } from 'minio';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import { asAppError, fail } from '@vision/contracts/errors';
import { callUpstream } from '@vision/shared/upstream/call-upstream';
import type { UpstreamCall } from '@vision/shared/upstream/call-upstream';
import { limitWithin } from '@vision/shared/upstream/deadline';
import { endOf, UpstreamTimeoutError } from '@vision/shared/upstream/ended-call';
import { containerKeys } from './container-identity.ts';
import type { ContainerIdentity } from './container-identity.ts';
import { beginUpload } from './begin-upload.ts';
import type { NewUpload } from './begin-upload.ts';
import { S3_IDLE_MS } from './idle-limit.ts';
import { putObject } from './put-object.ts';
import type { SignedPut } from './put-object.ts';
import { regionalEndpoint } from './regional-endpoint.ts';
import type { Send } from './send-signed.ts';
import type { KeySource } from './session-keys.ts';
import { webIdentityKeys } from './web-identity.ts';
import type { WebIdentity } from './web-identity.ts';

export interface ObjectStoreOptions {
  /** `http(s)://host:port` */
  endpoint: string;
  region: string;
  bucket: string;
  accessKey: string;
  secretKey: string;
  /** Identity that requests temporary keys, in place of the two above. */
  identity?: WebIdentity | ContainerIdentity | undefined;
  /** PEM file of the authorities to trust instead of those of Node.js. */
  caFile?: string | undefined;
  /** Connections kept to the store. */
  maxSockets?: number;
  /** Longest silence on a connection; `S3_IDLE_MS` when absent. */
  idleMs?: number;
  /** Longest time of a call that carries no body of unknown length. */
  deadlineMs?: number;
}

/** State that every call of the store needs. */
export interface Connection {
  bucket: string;
  region: string;
  isEncrypted: boolean;
  deadlineMs: number;
  host: string;
  idleMs: number;
  /** A session whose requests end when the signal fires, and report to the call the bytes they send. */
  sessionFor: (signal: AbortSignal, call: UpstreamCall) => Session;
  /** Closes idle connections. */
  close: () => void;
}

/** The requests of one call. */
export interface Session {
  /** A client with the current keys: a session that outlives its keys calls it again. */
  client: () => Promise<Client>;
  put: (request: SignedPut) => Promise<IncomingHttpHeaders>;
  /** Begins a multipart upload and returns its id. */
  beginUpload: (upload: NewUpload) => Promise<string>;
}

export interface Limits {
  /** Name of the operation, for spans and metrics. */
  operation: string;
  signal?: AbortSignal | undefined;
  /** Fires when the caller abandons the call; requests in flight continue until `signal` fires. */
  givenUp?: AbortSignal | undefined;
  /** Infinity: only the idle limit applies. */
  deadlineMs?: number;
}

/**
 * The methods of the S3 client take no signal, and its transport is set at construction. So every call has its own
 * client, which costs some microseconds; all clients share the connections of one agent.
 */
export function createConnection(options: ObjectStoreOptions): Connection {
  const { maxSockets = 32, idleMs = S3_IDLE_MS, deadlineMs = 30_000 } = options;
  const endpoint = regionalEndpoint(new URL(options.endpoint), options.region);
  const isEncrypted = endpoint.protocol === 'https:';
  const { Agent, request } = isEncrypted ? https : http;
  const ca = options.caFile === undefined ? undefined : readFileSync(options.caFile, 'utf8');
  const agent = new Agent({ keepAlive: true, maxSockets, maxFreeSockets: maxSockets, scheduling: 'lifo', ca });
  const settings = {
    endPoint: endpoint.hostname.replace(/^\[|\]$/g, ''),
    port: Number(endpoint.port) || (isEncrypted ? 443 : 80),
    useSSL: isEncrypted,
    // Without a region the client asks for it with a call that not every server has.
    region: options.region,
    pathStyle: true,
    // Its retries would send a stream that is already consumed.
    retryOptions: { disableRetry: true },
    transportAgent: agent,
  };
  const { bucket, region } = options;
  const keys = keysOf(options, ca);
  const target = { endpoint, region, bucket, keys };
  const sessionFor = (signal: AbortSignal, call: UpstreamCall): Session => {
    const send = sender(request, { idleMs, signal, call });
    const transport = { request: send as typeof http.request };
    const pooled: Send = (options, onReply) => send({ ...options, agent }, onReply);
    return {
      client: async () => new Client({ ...settings, ...(await keys()), transport }),
      put: (signedPut) => putObject(pooled, target, signedPut),
      beginUpload: (upload) => beginUpload(pooled, target, upload),
    };
  };
  const { hostname: host } = endpoint;
  return { bucket, region, isEncrypted, host, idleMs, deadlineMs, sessionFor, close: () => agent.destroy() };
}

function keysOf({ identity, accessKey, secretKey }: ObjectStoreOptions, ca: string | undefined): KeySource {
  if (!identity) return () => Promise.resolve({ accessKey, secretKey });
  return 'roleArn' in identity ? webIdentityKeys(identity, ca) : containerKeys(identity);
}

/** The client throws for these without reading the body; unread, it would occupy the connection. */
const UNREAD_STATUSES = new Set([408, 429, 499, 500, 502, 503, 504, 520]);

interface Sending {
  idleMs: number;
  signal: AbortSignal;
  call: UpstreamCall;
}

function sender(request: typeof http.request, { idleMs, signal, call }: Sending): Send {
  return (options, onReply) => {
    const outgoing = request({ ...options, signal }, (reply) => {
      call.answered(reply.statusCode ?? 0);
      if (UNREAD_STATUSES.has(reply.statusCode ?? 0)) reply.resume();
      onReply?.(reply);
    });
    outgoing.once('socket', (socket) => {
      const before = socket.bytesWritten;
      let after: number | undefined;
      // The next request on the connection is counted separately.
      outgoing.once('close', () => (after = socket.bytesWritten));
      call.sent(() => (after ?? socket.bytesWritten) - before);
    });
    return outgoing.setTimeout(idleMs, () => outgoing.destroy(new UpstreamTimeoutError('idle_timeout', idleMs)));
  };
}

/** Runs one call under a deadline and the caller's signal and turns every failure into an AppError. */
export async function callStore<T>(
  connection: Connection,
  { operation, signal, givenUp, deadlineMs = connection.deadlineMs }: Limits,
  work: (client: Client, session: Session) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const { limitMs, isDeadline } = limitWithin(deadlineMs);
  const deadline = new AbortController();
  const word = isDeadline ? 'deadline_exceeded' : 'total_timeout';
  const late = () => deadline.abort(new UpstreamTimeoutError(word, limitMs));
  const timer = limitMs === Infinity ? undefined : setTimeout(late, limitMs);
  const ended = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal;
  // Without a deadline, the idle limit ends it.
  const [limit, usualLimitMs] = [limitMs, deadlineMs].map((ms) => (ms === Infinity ? connection.idleMs : ms));
  const attributes = { 'server.address': connection.host };
  try {
    return await callUpstream({ upstream: 's3', operation, limitMs: limit, usualLimitMs, attributes }, async (call) => {
      try {
        // The client can wait without limit for an abandoned body, so the signal has to end the wait.
        const session = connection.sessionFor(ended, call);
        return await unlessAborted(
          ended,
          session.client().then((client) => work(client, session)),
        );
      } catch (error) {
        const over = [signal, givenUp].find((one) => one?.aborted);
        if (over) call.ended(endOf(over));
        throw ended.aborted ? ended.reason : error;
      }
    });
  } catch (error) {
    throw signal?.aborted ? signal.reason : asStoreError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The AppError for a failure of the store. */
export function asStoreError(error: unknown): Error {
  const known = asAppError(error);
  if (known) return known;
  const { code } = error as { code?: unknown };
  if (code === 'NoSuchKey' || code === 'NotFound') return fail.notFound('There is no such object.', 'object_not_found');
  return fail.sysUnavailable('object_store_unavailable', error);
}
