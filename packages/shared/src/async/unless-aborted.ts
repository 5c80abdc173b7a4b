/**
 * The outcome of `work`, or the reason of the signal if that fires first. For work that does not listen to the
 * signal, or only late. Such work continues in the background, and whoever began it has to end it. A later failure
 * of it is ignored.
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
