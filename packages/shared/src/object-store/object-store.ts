import { AsyncLocalStorage } from 'node:async_hooks';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { Client } from 'minio';
import type { ItemBucketMetadata } from 'minio';
import { atMost } from '../async/at-most.ts';
import { answered, unavailable } from './exchange.ts';
import type { Context } from './exchange.ts';
import { putParts } from './parts.ts';
import { getStream, getToFile, stat } from './reads.ts';
import type { StoredObject } from './reads.ts';
import { createS3Transport, endExchanges } from './transport.ts';
import type { S3Call } from './transport.ts';

export interface ObjectStoreOptions {
  /** `http(s)://host:port` */
  endpoint: string;
  region: string;
  bucket: string;
  accessKey: string;
  secretKey: string;
  /** Connections kept to the store. */
  maxSockets?: number;
  /** Longest silence on a connection. */
  idleMs?: number;
  /** Longest time of a call that carries no body of unknown length. */
  deadlineMs?: number;
}

export interface PutRequest {
  key: string;
  body: Buffer | Readable;
  contentType: string;
  /**
   * Length and hexadecimal SHA-256 of a stream, when they are known: it then goes in one request
   * and is never collected.
   */
  known?: { bytes: number; sha256: string } | undefined;
  /** Ends the upload and undoes what was sent of it; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * One bucket of any S3 server. Every method throws AppError OP-SYS-UNAVAILABLE `object_store_unavailable` when
 * the store does not answer or refuses, `not_found` with reason `object_not_found` where an object was asked
 * for and is not there.
 */
export interface ObjectStore {
  readonly bucket: string;
  /**
   * Stores an object whole or not at all. A buffer goes in one request; a stream of any length in parts of 5 MiB, the
   * smallest that S3 takes, one in memory at a time. A stream that fails rejects with its own error.
   */
  put(request: PutRequest): Promise<void>;
  /** Writes the object to a file, which must not exist yet; removes the file again when the download fails. */
  getToFile(key: string, path: string, signal?: AbortSignal): Promise<void>;
  getStream(key: string, signal?: AbortSignal): Promise<Readable>;
  /** Size and date, undefined when there is no such object. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** Removes objects; those that are not there count as removed. */
  remove(keys: string[]): Promise<void>;
  /** Objects below a prefix in key order, page by page. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Ends multipart uploads below a prefix that were begun longer ago than `olderThanMs`; returns how many. */
  abortIncomplete(prefix: string, olderThanMs: number): Promise<number>;
  /** Creates the bucket when it is missing. */
  ensureBucket(): Promise<void>;
  /** Resolves when the bucket answers within 2 s. */
  ping(): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

const PING_MS = 2_000;
/** Longest wait for a part on its way when its upload is given up. */
const SETTLE_MS = 5_000;
/**
 * Longest wait for the removal of what a failed upload left. A removal that takes longer continues in the background.
 */
const CLEAN_UP_MS = 2_000;

/** Connects lazily: nothing is sent before the first call. */
export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const calls = new AsyncLocalStorage<S3Call>();
  const { client, close, useSSL } = createClient(options, calls);
  const context: Context = { client, calls, bucket: options.bucket, deadlineMs: options.deadlineMs ?? 30_000, useSSL };
  return {
    bucket: options.bucket,
    put: (request) => put(context, request),
    getToFile: (key, path, signal) => getToFile(context, { key, path, signal }),
    getStream: (key, signal) => getStream(context, key, signal),
    stat: (key) => stat(context, key),
    remove: (keys) => remove(context, keys),
    list: (prefix) => list(context, prefix),
    abortIncomplete: (prefix, olderThanMs) => abortIncomplete(context, prefix, olderThanMs),
    ensureBucket: () =>
      answered(context, {}, async () => {
        if (!(await client.bucketExists(options.bucket))) await client.makeBucket(options.bucket, options.region);
      }),
    ping: () =>
      answered(context, { deadlineMs: PING_MS }, async () => {
        if (!(await client.bucketExists(options.bucket))) throw new Error('the bucket does not exist');
      }),
    close,
  };
}

function createClient(options: ObjectStoreOptions, calls: AsyncLocalStorage<S3Call>) {
  const endpoint = new URL(options.endpoint);
  const useSSL = endpoint.protocol === 'https:';
  const { transport, agent } = createS3Transport(calls, {
    useSSL,
    maxSockets: options.maxSockets ?? 32,
    idleMs: options.idleMs ?? 20_000,
  });
  const client = new Client({
    endPoint: endpoint.hostname.replace(/^\[|\]$/g, ''),
    port: Number(endpoint.port) || (useSSL ? 443 : 80),
    useSSL,
    accessKey: options.accessKey,
    secretKey: options.secretKey,
    // Without a region the client asks for it with a call that not every server has.
    region: options.region,
    pathStyle: true,
    // Its retries would send a stream that is already used up.
    retryOptions: { disableRetry: true },
    transport,
    transportAgent: agent,
  });
  return { client, useSSL, close: () => agent.destroy() };
}

async function put(context: Context, request: PutRequest): Promise<void> {
  const { client, bucket } = context;
  const { key, body, contentType, signal } = request;
  const headers: ItemBucketMetadata = { 'Content-Type': contentType };
  if (Buffer.isBuffer(body)) {
    await answered(context, { signal }, () => client.putObject(bucket, key, body, body.length, headers));
    return;
  }
  if (request.known) {
    await putKnown(context, body, { ...request, ...request.known });
    return;
  }
  const source = new PassThrough();
  const broken = new AbortController();
  const feeding = pipeline(body, source).catch((error: unknown) => broken.abort(error));
  const ended = signal ? AbortSignal.any([signal, broken.signal]) : broken.signal;
  const exchanges: NonNullable<S3Call['exchanges']> = { inFlight: new Set(), isOver: false };
  const cut = new AbortController();
  const onEnded = () => {
    // A part that arrives while its upload is being aborted can stay in the store for ever, so it is
    // allowed to finish first.
    void endExchanges(exchanges, SETTLE_MS).then(() => cut.abort(ended.reason));
  };
  if (ended.aborted) onEnded();
  ended.addEventListener('abort', onEnded, { once: true });
  try {
    await answered(context, { signal: cut.signal, deadlineMs: false, exchanges }, () =>
      putParts(context, { key, body: source, headers: { 'Content-Type': contentType } }),
    );
    ended.throwIfAborted();
  } catch (error) {
    // Destroyed with an error: without one, a pipeline whose source ended before it was read waits for ever.
    body.destroy(error as Error);
    await atMost(CLEAN_UP_MS, cleanUp(context, key, ended.aborted));
    throw ended.aborted ? ended.reason : error;
  } finally {
    ended.removeEventListener('abort', onEnded);
    source.destroy();
    await feeding;
  }
}

async function cleanUp(context: Context, key: string, wasGivenUp: boolean): Promise<void> {
  await abortIncomplete(context, key, 0).catch(() => undefined);
  // The request that was allowed to finish may have completed the upload.
  if (wasGivenUp) await remove(context, [key]).catch(() => undefined);
}

/** The client's own way to send a stream collects it first, to hash it for the signature. */
async function putKnown(
  context: Context,
  body: Readable,
  { key, contentType, bytes, sha256, signal }: Omit<PutRequest, 'body'> & { bytes: number; sha256: string },
): Promise<void> {
  const { client, bucket: bucketName } = context;
  const headers = { 'Content-Type': contentType, 'Content-Length': bytes };
  try {
    await answered(context, { signal, deadlineMs: false }, async () => {
      const signed = context.useSSL ? '' : sha256;
      const options = { method: 'PUT', bucketName, objectName: key, headers };
      await finished((await client.makeRequestStreamAsync(options, body, signed, [200], '')).resume());
    });
  } finally {
    body.destroy();
  }
}

async function remove(context: Context, keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  const failures = await answered(context, {}, () => context.client.removeObjects(context.bucket, keys));
  const codes = failures.map((failure) => failure?.Error?.Code ?? (failure as { Code?: string } | undefined)?.Code);
  const refusal = codes.find((code) => code !== undefined && code !== 'NoSuchKey');
  if (refusal !== undefined) throw unavailable(new Error(`remove refused: ${refusal}`));
}

async function* list(context: Context, prefix: string): AsyncGenerator<StoredObject> {
  let token = '';
  for (;;) {
    const page = await answered(context, {}, () =>
      context.client.listObjectsV2Query(context.bucket, prefix, token, '', 1000, ''),
    );
    for (const item of page.objects) {
      if (item.name !== undefined) yield { key: item.name, bytes: item.size, modifiedAt: item.lastModified };
    }
    if (!page.isTruncated) return;
    token = page.nextContinuationToken;
  }
}

async function abortIncomplete(context: Context, prefix: string, olderThanMs: number): Promise<number> {
  const { client, bucket } = context;
  const cutOff = Date.now() - olderThanMs;
  let aborted = 0;
  let [keyMarker, uploadIdMarker] = ['', ''];
  for (;;) {
    const page = await answered(context, {}, () =>
      client.listIncompleteUploadsQuery(bucket, prefix, keyMarker, uploadIdMarker, ''),
    );
    for (const upload of page.uploads) {
      if (upload.initiated.getTime() > cutOff) continue;
      await answered(context, {}, () => client.abortMultipartUpload(bucket, upload.key, upload.uploadId));
      aborted += 1;
    }
    const last = page.uploads.at(-1);
    if (!page.isTruncated || !last) return aborted;
    // Taken from the page itself: the client loses the id of the next page on its way, and does not escape it.
    keyMarker = last.key;
    uploadIdMarker = encodeURIComponent(last.uploadId);
  }
}
