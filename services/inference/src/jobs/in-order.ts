/**
 * Applies `work` to items of a source, up to `atOnce` of them at a time, and yields the results in the order of the
 * items. The source is read only as far ahead as there is room.
 */
export async function* inOrder<T, R>(
  source: AsyncIterable<T>,
  atOnce: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of source) {
      const result = work(item);
      // It may fail before its turn; the failure is reported when its turn comes.
      result.catch(() => undefined);
      running.push(result);
      const [first] = running;
      if (running.length >= atOnce && first) {
        yield await first;
        void running.shift();
      }
    }
    for (const result of running) yield await result;
  } finally {
    await Promise.allSettled(running);
  }
}
