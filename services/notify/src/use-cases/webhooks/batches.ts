export interface Batches<T, R> {
  /** Resolves with the result of the item, when its batch has run. @throws what its batch throws. */
  add: (item: T) => Promise<R>;
}

export interface BatchesOptions<T, R> {
  /** Maximum number of items of one batch. */
  most: number;
  /** Runs one batch at a time; the results are in the order of the items. */
  run: (items: T[]) => Promise<R[]>;
}

interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs together all items that are added while the previous batch runs. An item that is added while none runs is
 * processed at once, alone: no item waits for others. A batch that fails affects only its own items.
 */
export function createBatches<T, R>({ most, run }: BatchesOptions<T, R>): Batches<T, R> {
  let waiting: Waiting<T, R>[] = [];
  let isRunning = false;
  const runAll = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, most);
      waiting = waiting.slice(most);
      try {
        const results = await run(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => resolve(results[index] as R));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  };
  return {
    add: (item) => {
      const { promise, resolve, reject } = Promise.withResolvers<R>();
      waiting.push({ item, resolve, reject });
      if (!isRunning) void runAll();
      return promise;
    },
  };
}
