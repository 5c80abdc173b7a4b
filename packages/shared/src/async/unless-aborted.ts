/**
 * The outcome of `work`, or the reason of the signal if that fires first. For work that does not listen to the
 * signal, or only late. Such work continues in the background, and the caller has to end it. A later failure
 * of it is ignored.
 */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    // eslint-disable-next-line no-restricted-syntax -- the listener is taken off below, the work is its owner's
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
