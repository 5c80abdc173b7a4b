/**
 * `work` such that calls with one key that come while it runs share one further run. Each caller gets the outcome of a
 * run that began after he asked, and no more than one run per key goes on at a time, however many ask.
 */
export function joinedByKey<K, T>(work: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const running = new Map<K, Promise<T>>();
  const next = new Map<K, Promise<T>>();

  const run = (key: K): Promise<T> => {
    const outcome = work(key).finally(() => {
      if (running.get(key) === outcome) running.delete(key);
    });
    running.set(key, outcome);
    return outcome;
  };
  const runAfter = async (before: Promise<T>, key: K): Promise<T> => {
    await before.catch(() => undefined);
    next.delete(key);
    return run(key);
  };

  return (key) => {
    const waiting = next.get(key);
    if (waiting) return waiting;
    const before = running.get(key);
    if (!before) return run(key);
    const outcome = runAfter(before, key);
    next.set(key, outcome);
    return outcome;
  };
}
