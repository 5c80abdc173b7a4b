import { createGate, GateFullError } from '@vision/shared/async/gate';
import { fail } from '@vision/shared/errors';
import { createObjectStore } from '@vision/shared/object-store/object-store';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import type { ObjectStoreOptions } from '@vision/shared/object-store/exchange';
import { createByteCache } from './byte-cache.ts';

/** The objects of older segments. Methods throw as those of `ObjectStore` do. */
export interface SegmentStore {
  /** The object of this key, which has so many bytes; what was read lately is remembered. */
  get: (key: string, bytes: number) => Promise<Buffer>;
  put: (key: string, body: Buffer) => Promise<void>;
  has: (key: string) => Promise<boolean>;
  remove: (keys: string[]) => Promise<void>;
  /** The keys below a prefix. */
  list: (prefix: string) => AsyncIterable<string>;
  /** Closes idle connections. */
  close: () => void;
}

/** Objects that are fetched at once, and that may wait for it: bounds the memory of reads while the store is slow. */
const AT_ONCE = 16;
const WAITING = 128;
const CACHE_BYTES = 32 * 1024 * 1024;

/** Connects lazily. Without an object store every method fails as if it were away. */
export function createSegmentStore(options: ObjectStoreOptions | undefined): SegmentStore {
  if (!options) return absentStore;
  const store = createObjectStore(options);
  const cache = createByteCache(CACHE_BYTES);
  const gate = createGate({ concurrency: AT_ONCE, queue: WAITING });
  return {
    get: async (key, bytes) => {
      const known = cache.get(key);
      if (known) return known;
      const body = await gate.run(() => store.get(key, bytes)).catch(asBusy);
      cache.set(key, body);
      return body;
    },
    put: (key, body) => store.put({ key, body, contentType: 'application/octet-stream' }),
    has: async (key) => (await store.stat(key)) !== undefined,
    remove: (keys) => store.remove(keys),
    list: (prefix) => keysOf(store, prefix),
    close: () => store.close(),
  };
}

async function* keysOf(store: ObjectStore, prefix: string): AsyncGenerator<string> {
  for await (const { key } of store.list(prefix)) yield key;
}

function asBusy(error: unknown): never {
  throw error instanceof GateFullError ? fail.sysUnavailable('object_store_busy', error) : error;
}

const away = () => fail.sysUnavailable('object_store_unavailable', new Error('S3_ENDPOINT is not set'));
const noStore = () => Promise.reject(away());
const absentStore: SegmentStore = {
  get: noStore,
  put: noStore,
  has: noStore,
  remove: noStore,
  list: () => {
    throw away();
  },
  close: () => undefined,
};
