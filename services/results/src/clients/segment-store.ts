import { LRUCache } from 'lru-cache';
import { createGate, GateFullError } from '@vision/shared/async/gate';
import { unlessAborted } from '@vision/shared/async/unless-aborted';
import { asAppError, fail } from '@vision/contracts/errors';
import { createObjectStore } from '@vision/objects/object-store';
import type { ObjectStore } from '@vision/objects/object-store';
import type { ObjectStoreOptions } from '@vision/objects/call-store';
import { SegmentDamagedError } from '@vision/contracts/segments/bytes';
import { assertIntact } from '@vision/contracts/segments/pack';
import type { PackedFacts } from '@vision/contracts/segments/pack';

/** The object of a segment, and its facts in the index. */
export interface SegmentObject extends PackedFacts {
  objectKey: string;
}

/** The objects of older segments, and images of tracks. Methods throw as those of `ObjectStore` do. */
export interface SegmentStore {
  /**
   * Returns the object of a segment. Recently read objects are cached; concurrent calls for one object share one
   * request to the store. The signal ends the wait of its caller only.
   * @throws SegmentDamagedError when the store twice returns bytes that differ from the index.
   */
  get: (object: SegmentObject, signal?: AbortSignal) => Promise<Buffer>;
  /** Whether the store has the object as the index describes it; reads all of it, past the cache. */
  isIntact: (object: SegmentObject) => Promise<boolean>;
  put: (key: string, body: Buffer) => Promise<void>;
  has: (key: string) => Promise<boolean>;
  remove: (keys: string[]) => Promise<void>;
  /** The image of a track; one larger than `maxBytes` is refused as if the store were unavailable. */
  image: (key: string, maxBytes: number) => Promise<Buffer>;
  /** The keys below a prefix. */
  list: (prefix: string) => AsyncIterable<string>;
  /** The underlying store, for the marks of databases. */
  bucket: ObjectStore;
  /** Closes idle connections. */
  close: () => void;
}

/** Limits of concurrent and of waiting fetches: bounds the memory of reads while the store is slow. */
const AT_ONCE = 16;
const WAITING = 128;
const CACHE_BYTES = 32 * 1024 * 1024;

/** Connects lazily. */
export const createSegmentStore = (options: ObjectStoreOptions): SegmentStore => segmentsIn(createObjectStore(options));

/** The objects of older segments in this store. */
export function segmentsIn(store: ObjectStore): SegmentStore {
  return {
    get: createReader(store),
    isIntact: (object) => isIntact(store, object),
    put: (key, body) => store.put({ key, body, contentType: 'application/octet-stream' }),
    has: async (key) => (await store.stat(key)) !== undefined,
    remove: (keys) => store.remove(keys),
    image: createImageReader(store),
    list: (prefix) => keysOf(store, prefix),
    bucket: store,
    close: () => store.close(),
  };
}

function createReader(store: ObjectStore): SegmentStore['get'] {
  const cache = new LRUCache<string, Buffer>({
    maxSize: CACHE_BYTES,
    maxEntrySize: CACHE_BYTES / 4,
    sizeCalculation: (body) => Math.max(1, body.length),
  });
  const gate = createGate({ concurrency: AT_ONCE, queue: WAITING });
  const reads = new Map<string, Promise<Buffer>>();
  const read = async (object: SegmentObject): Promise<Buffer> => {
    try {
      const body = await gate.run(() => readIntact(store, object));
      // Only bytes that match the index: a truncated response would make the page unreadable until it leaves the cache.
      cache.set(object.objectKey, body);
      return body;
    } catch (error) {
      throw error instanceof GateFullError ? fail.sysUnavailable('object_store_busy', error) : error;
    } finally {
      reads.delete(object.objectKey);
    }
  };
  return async (object, signal) => {
    signal?.throwIfAborted();
    const cached = cache.get(object.objectKey);
    if (cached) return cached;
    const shared = reads.get(object.objectKey) ?? read(object);
    reads.set(object.objectKey, shared);
    return signal ? unlessAborted(signal, shared) : shared;
  };
}

/** Images are small and read once. They have limits of their own, so that neither kind of read delays the other. */
function createImageReader(store: ObjectStore): SegmentStore['image'] {
  const gate = createGate({ concurrency: AT_ONCE, queue: WAITING });
  return (key, maxBytes) =>
    gate
      .run(() => store.get(key, maxBytes))
      .catch((error: unknown) => {
        throw error instanceof GateFullError ? fail.sysUnavailable('object_store_busy', error) : error;
      });
}

/** Retries once when the response does not match the index: a proxy may have truncated it. */
async function readIntact(store: ObjectStore, object: SegmentObject): Promise<Buffer> {
  const readOnce = async () => {
    const body = await store.get(object.objectKey, object.bytes);
    assertIntact(body, object);
    return body;
  };
  try {
    return await readOnce();
  } catch (error) {
    if (!(error instanceof SegmentDamagedError)) throw error;
    return readOnce();
  }
}

async function isIntact(store: ObjectStore, object: SegmentObject): Promise<boolean> {
  try {
    await readIntact(store, object);
    return true;
  } catch (error) {
    // More bytes than the index has are refused as if the store were unavailable; the size tells this from an outage.
    if (error instanceof SegmentDamagedError || asAppError(error)?.kind === 'not_found') return false;
    const found = await store.stat(object.objectKey);
    if (found?.bytes !== object.bytes) return false;
    throw error;
  }
}

async function* keysOf(store: ObjectStore, prefix: string): AsyncGenerator<string> {
  for await (const { key } of store.list(prefix)) yield key;
}
