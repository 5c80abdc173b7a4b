import type { Readable } from 'node:stream';
import { deferred } from './deferred.ts';

/**
 * Reads a stream in pieces of a given size: the next `size` bytes, or undefined when the stream ended before them. The
 * stream is not read while nobody asks, so a slow reader slows the writer.
 */
export function createPuller(stream: Readable): (size: number) => Promise<Buffer | undefined> {
  let wake = deferred<undefined>();
  let isEnded = false;
  const end = () => {
    isEnded = true;
    wake.resolve(undefined);
  };
  stream.on('readable', () => wake.resolve(undefined));
  stream.on('end', end).on('close', end).on('error', end);
  return async (size) => {
    for (;;) {
      wake = deferred();
      const bytes = stream.read(size) as Buffer | null;
      if (bytes !== null) return bytes.length === size ? bytes : undefined;
      if (isEnded) return undefined;
      await wake.promise;
    }
  };
}
