const HEAD_BYTES = 8;

/** The input that runs at the moment, in memory that two threads share: one of them may hang. */
export interface WatchedInput {
  begin: (input: Buffer) => void;
  /** Changes with every input. */
  count: () => number;
  current: () => Buffer;
}

export function watchedBytes(maxBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + maxBytes);
}

export function createWatchedInput(shared: SharedArrayBuffer): WatchedInput {
  const head = new Int32Array(shared, 0, 2);
  const content = new Uint8Array(shared, HEAD_BYTES);
  return {
    begin: (input) => {
      const part = input.subarray(0, content.length);
      content.set(part);
      head[1] = part.length;
      Atomics.add(head, 0, 1);
    },
    count: () => Atomics.load(head, 0),
    current: () => Buffer.from(content.subarray(0, head[1])),
  };
}
