/** Remembers what was used last, up to a number of bytes in all. */
export interface ByteCache {
  get: (key: string) => Buffer | undefined;
  set: (key: string, value: Buffer) => void;
}

/** Values never change under their key. */
export function createByteCache(maxBytes: number): ByteCache {
  // A Map keeps the order in which keys were added; the first is the one that was used longest ago.
  const values = new Map<string, Buffer>();
  let bytes = 0;
  const forget = (key: string) => {
    bytes -= values.get(key)?.length ?? 0;
    values.delete(key);
  };
  return {
    get: (key) => {
      const value = values.get(key);
      if (!value) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set: (key, value) => {
      if (value.length > maxBytes / 4) return;
      forget(key);
      values.set(key, value);
      bytes += value.length;
      for (const oldest of values.keys()) {
        if (bytes <= maxBytes) break;
        forget(oldest);
      }
    },
  };
}
