/**
 * Wraps `work` so that calls with one key during a run share one further run. Each caller gets the outcome of a run
 * that began after its call, and a key never has more than one run at a time.
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
