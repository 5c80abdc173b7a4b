import { open, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asAppError, fail } from '@vision/contracts/errors';
import { readBody } from '@vision/shared/http/read-body';
import { asStoreError, callStore } from './call-store.ts';
import type { Connection } from './call-store.ts';
import { isOutOfSpace } from './out-of-space.ts';

export interface StoredObject {
  key: string;
  bytes: number;
  modifiedAt: Date;
}

export interface FileRequest {
  key: string;
  path: string;
  /** Size of the object; an answer that ends before or goes beyond it failed. */
  bytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface RangeRequest {
  key: string;
  /** First byte and number of bytes; all of them have to be there. */
  first: number;
  bytes: number;
  signal?: AbortSignal | undefined;
}

/**
 * Writes a range of an object into a stream and ends it; holds no more of it than the buffers of both streams, and
 * waits for a slow reader. Throws as `ObjectStore` says; `to` is destroyed then.
 */
export async function getRange(
  connection: Connection,
  { key, first, bytes, signal }: RangeRequest,
  to: Writable,
): Promise<void> {
  const givenUp = new AbortController();
  const limits = { operation: 'get_range', signal, givenUp: givenUp.signal, deadlineMs: Infinity };
  await callStore(connection, limits, async (client) => {
    const body = await client.getPartialObject(connection.bucket, key, first, bytes);
    // A store without ranges sends the whole object.
    const counter = { passed: 0 };
    to.once('close', () => {
      // Its reader has left: no fault of the store.
      if (!to.writableFinished && counter.passed < bytes) givenUp.abort();
    });
    await pipeline(body, exactly(bytes, counter), to);
  });
}

/** Passes chunks on, and fails at the one that makes them too many, or at their end when they are too few. */
function exactly(bytes: number, counter = { passed: 0 }) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      counter.passed += chunk.length;
      if (counter.passed > bytes) throw new Error(`the store gave more than ${bytes} bytes`);
      yield chunk;
    }
    if (counter.passed < bytes) throw new Error(`the store gave ${counter.passed} of ${bytes} bytes`);
  };
}

/**
 * Writes an object to a file, which must not exist yet; removes it again when the download fails.
 * Throws as `ObjectStore` says.
 */
export async function getToFile(connection: Connection, { key, path, bytes, signal }: FileRequest): Promise<void> {
  const givenUp = new AbortController();
  const limits = { operation: 'get', signal, givenUp: givenUp.signal, deadlineMs: Infinity };
  const file = await open(path, 'wx', 0o600).catch(localFailure);
  try {
    await callStore(connection, limits, async (client) => {
      const body = await client.getObject(connection.bucket, key);
      const written = file.createWriteStream();
      const writing = bytes === undefined ? pipeline(body, written) : pipeline(body, exactly(bytes), written);
      await writing.catch((error: unknown) => {
        // The disk here is full: no fault of the store, so its call counts as given up by us.
        if (isOutOfSpace(error)) givenUp.abort();
        localFailure(error);
      });
    });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

function localFailure(error: unknown): never {
  throw isOutOfSpace(error) ? fail.sysUnavailable('no_local_space', error) : error;
}

/** The whole object. Throws as `ObjectStore` says. */
export async function get(connection: Connection, key: string, maxBytes: number): Promise<Buffer> {
  return callStore(connection, { operation: 'get' }, async (client) =>
    readBody(await client.getObject(connection.bucket, key), maxBytes),
  );
}

/** Size and date; undefined when there is no such object. Throws as `ObjectStore` says. */
export async function stat(
  connection: Connection,
  key: string,
  signal?: AbortSignal,
): Promise<StoredObject | undefined> {
  try {
    const found = await callStore(connection, { operation: 'stat', signal }, (client) =>
      client.statObject(connection.bucket, key),
    );
    return { key, bytes: found.size, modifiedAt: found.lastModified };
  } catch (error) {
    if (asAppError(error)?.kind === 'not_found') return undefined;
    throw error;
  }
}

/** Removes objects; those that are not there count as removed. Throws as `ObjectStore` says. */
export async function remove(connection: Connection, keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  const failures = await callStore(connection, { operation: 'remove' }, (client) =>
    client.removeObjects(connection.bucket, keys),
  );
  // The types of the client put the code one level deeper than most servers do.
  const codes = failures.map((failure) => failure?.Error?.Code ?? (failure as { Code?: string } | undefined)?.Code);
  const refusal = codes.find((code) => code !== undefined && code !== 'NoSuchKey');
  if (refusal !== undefined)
    throw asStoreError(Object.assign(new Error(`remove refused: ${refusal}`), { code: refusal }));
}

/** Objects below a prefix in key order, page by page, those after a key only. Throws as `ObjectStore` says. */
export async function* list(connection: Connection, prefix: string, after = ''): AsyncGenerator<StoredObject> {
  let token = '';
  for (;;) {
    const page = await callStore(connection, { operation: 'list' }, (client) =>
      client.listObjectsV2Query(connection.bucket, prefix, token, '', 1000, after),
    );
    for (const item of page.objects) {
      if (item.name !== undefined) yield { key: item.name, bytes: item.size, modifiedAt: item.lastModified };
    }
    if (!page.isTruncated) return;
    token = page.nextContinuationToken;
  }
}
