import { inflateSync } from 'node:zlib';
import { ORDINARY_MS } from './image-limits.ts';

/** Profiles of cameras, phones and screens have 0.5 to 3.2 KB; tables for printers and tricks have more. */
const USUAL_BYTES = 4096;
/** More than an ordinary image may take, so that it waits among the expensive ones. */
const LARGE_MS = 5 * ORDINARY_MS;

/** Processor time that a colour profile of this size may add, milliseconds. */
export const profileMs = (bytes: number): number => (bytes > USUAL_BYTES ? LARGE_MS : 0);

/** The same for the compressed one of a PNG: a name, a zero, the method, then zlib. Unpacked to the usual size only. */
export function packedProfileMs(chunk: Buffer): number {
  try {
    return profileMs(inflateSync(chunk.subarray(chunk.indexOf(0) + 2), { maxOutputLength: USUAL_BYTES }).length);
  } catch (error) {
    const isLarge =
      typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    // A broken one is ignored by decoders.
    return isLarge ? LARGE_MS : 0;
  }
}
