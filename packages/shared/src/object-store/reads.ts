import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asAppError } from '../errors.ts';
import { answered, unavailable } from './exchange.ts';
import type { Context } from './exchange.ts';

export interface StoredObject {
  key: string;
  bytes: number;
  modifiedAt: Date;
}

/**
 * Writes an object to a file, which must not exist yet; removes it again when the download fails.
 * Throws as `ObjectStore` says.
 */
export async function getToFile(
  context: Context,
  { key, path, signal }: { key: string; path: string; signal: AbortSignal | undefined },
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await answered(context, { signal, deadlineMs: false }, async () => {
      await pipeline(await context.client.getObject(context.bucket, key), file.createWriteStream());
    });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** The content of an object while it arrives. Throws as `ObjectStore` says. */
export async function getStream(context: Context, key: string, signal?: AbortSignal): Promise<Readable> {
  const { client, bucket, calls } = context;
  signal?.throwIfAborted();
  try {
    // The stream outlives this call, so only the idle limit and the caller's signal may end it.
    return await calls.run({ signal }, () => client.getObject(bucket, key));
  } catch (error) {
    throw signal?.aborted ? signal.reason : unavailable(error);
  }
}

/** Size and date; undefined when there is no such object. Throws as `ObjectStore` says. */
export async function stat(context: Context, key: string): Promise<StoredObject | undefined> {
  try {
    const found = await answered(context, {}, () => context.client.statObject(context.bucket, key));
    return { key, bytes: found.size, modifiedAt: found.lastModified };
  } catch (error) {
    if (asAppError(error)?.kind === 'not_found') return undefined;
    throw error;
  }
}
