import { SourceError } from './source-error.ts';

/** Rejects with `timeout` when `work` takes longer; `onLate` ends what still runs then. */
export async function withinTime<T>(work: Promise<T>, timeoutMs: number, onLate: () => void): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new SourceError('timeout'));
    onLate();
  }, timeoutMs);
  try {
    // eslint-disable-next-line no-restricted-syntax -- `onLate` ends the work, whose failure the race has handled
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
