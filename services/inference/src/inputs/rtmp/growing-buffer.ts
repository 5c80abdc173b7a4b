const FIRST_BYTES = 4096;

/** Collects bytes up to a length in one piece of memory that grows with what came, not with what was announced. */
export function createGrowingBuffer(length: number) {
  let memory = Buffer.alloc(Math.min(length, FIRST_BYTES));
  let size = 0;
  return {
    missing: () => length - size,
    add: (bytes: Buffer) => {
      if (size + bytes.length > memory.length) {
        const larger = Buffer.alloc(Math.min(length, Math.max(2 * memory.length, size + bytes.length)));
        memory.copy(larger, 0, 0, size);
        memory = larger;
      }
      bytes.copy(memory, size);
      size += bytes.length;
    },
    content: () => memory.subarray(0, size),
  };
}
