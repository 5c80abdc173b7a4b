import type { Writable } from 'node:stream';
import { callStore, createConnection } from './call-store.ts';
import type { Connection, ObjectStoreOptions } from './call-store.ts';
import { get, getRange, getToFile, list, remove, stat } from './objects.ts';
import type { FileRequest, RangeRequest, StoredObject } from './objects.ts';
import { abortIncomplete, put } from './uploads.ts';
import type { PutRequest } from './uploads.ts';

/**
 * One bucket of any S3 server. Every method throws AppError OP-SYS-UNAVAILABLE `object_store_unavailable` when
 * the store does not respond or refuses, and `not_found` with reason `object_not_found` when a requested object does
 * not exist.
 */
export interface ObjectStore {
  readonly bucket: string;
  /**
   * Stores an object completely or not at all. Sends a buffer in one request, a stream of any length in parts of 5 MiB,
   * the minimum of S3, one in memory at a time. A failing stream rejects with its own error.
   */
  put(request: PutRequest): Promise<void>;
  /**
   * Writes the object to a file, which must not exist yet; removes the file again when the download fails. An object of
   * another size than `bytes` counts as a failure of the store; a full disk is OP-SYS-UNAVAILABLE with
   * `no_local_space`.
   */
  getToFile(request: FileRequest): Promise<void>;
  /** A small object in memory; one larger than `maxBytes` counts as an unavailable store. */
  get(key: string, maxBytes: number): Promise<Buffer>;
  /**
   * Writes a range of an object into a stream and ends it. A slow reader slows the store down: no more than the buffers
   * of two streams is in memory. When it fails the stream is destroyed, so that no part passes for the whole.
   */
  getRange(request: RangeRequest, to: Writable): Promise<void>;
  /** Size and date, undefined when there is no such object. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** Removes objects; missing ones count as removed. */
  remove(keys: string[]): Promise<void>;
  /** Objects below a prefix in key order, page by page. */
  list(prefix: string, after?: string): AsyncIterable<StoredObject>;
  /** Ends multipart uploads below a prefix: all, or those begun before an instant; returns how many. */
  abortIncomplete(prefix: string, begunBefore?: Date): Promise<number>;
  /** Creates the bucket when it is missing. */
  ensureBucket(): Promise<void>;
  /** Rejects unless the bucket exists and may be read. */
  assertBucket(): Promise<void>;
  /** Closes idle connections. */
  close(): void;
}

/** Connects lazily: nothing is sent before the first call. */
export function createObjectStore(options: ObjectStoreOptions): ObjectStore {
  const connection = createConnection(options);
  return {
    bucket: connection.bucket,
    put: (request) => put(connection, request),
    getToFile: (request) => getToFile(connection, request),
    get: (key, maxBytes) => get(connection, key, maxBytes),
    getRange: (request, to) => getRange(connection, request, to),
    stat: (key) => stat(connection, key),
    remove: (keys) => remove(connection, keys),
    list: (prefix, after) => list(connection, prefix, after),
    abortIncomplete: (prefix, begunBefore) => abortIncomplete(connection, prefix, begunBefore),
    ensureBucket: () => ensureBucket(connection),
    assertBucket: () => assertBucket(connection),
    close: connection.close,
  };
}

async function ensureBucket(connection: Connection): Promise<void> {
  const { bucket, region } = connection;
  await callStore(connection, { operation: 'make_bucket' }, async (client) => {
    if (!(await client.bucketExists(bucket))) await client.makeBucket(bucket, region);
  });
}

async function assertBucket(connection: Connection): Promise<void> {
  const { bucket } = connection;
  await callStore(connection, { operation: 'look_at_bucket' }, async (client) => {
    if (!(await client.bucketExists(bucket))) throw new Error(`there is no bucket ${bucket}`);
  });
}
