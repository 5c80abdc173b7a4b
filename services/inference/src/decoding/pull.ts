import type { Readable } from 'node:stream';

/**
 * Reads a stream in pieces of a given size: the next `size` bytes, or undefined when the stream ended before them. The
 * stream is read only on demand, so a slow reader slows the writer.
 */
export function createPuller(stream: Readable): (size: number) => Promise<Buffer | undefined> {
  let news = Promise.withResolvers<void>();
  let isEnded = false;
  const end = () => {
    isEnded = true;
    news.resolve();
  };
  stream.on('readable', () => news.resolve());
  stream.on('end', end).on('close', end).on('error', end);
  return async (size) => {
    for (;;) {
      news = Promise.withResolvers();
      const bytes = stream.read(size) as Buffer | null;
      if (bytes !== null) return bytes.length === size ? bytes : undefined;
      if (isEnded) return undefined;
      await news.promise;
    }
  };
}
