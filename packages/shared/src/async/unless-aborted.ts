/**
 * The outcome of `work`, or the reason of the signal if that fires first. For work that does not hear the signal itself, or hears
 * it late: it then goes on unwatched, and whoever began it sees to its end. A later failure of it disturbs nobody.
 */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    // The promise of the signal is dropped with its listener below.
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
