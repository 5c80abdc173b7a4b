import assert from 'node:assert/strict';
import { createRandom } from './engine/random.ts';

/** What a parser made of an input: what it read, or that it refused it in one of the ways it declares. */
export type Outcome<T> = { read: T } | { refused: string };

/**
 * Runs a parser. @throws what it throws when that is no refusal: an error of the class with one of these reasons.
 */
export function attempt<T>(parse: () => T, refusal: Refusal): Outcome<T> {
  try {
    return { read: parse() };
  } catch (error) {
    return { refused: reasonOf(error, refusal) };
  }
}

/** As `attempt`, for a parser that waits. */
export async function attemptLater<T>(parse: () => Promise<T>, refusal: Refusal): Promise<Outcome<T>> {
  try {
    return { read: await parse() };
  } catch (error) {
    return { refused: reasonOf(error, refusal) };
  }
}

interface Refusal {
  by: new (...args: never[]) => Error & { reason?: string };
  /** All reasons are declared when left out. */
  reasons?: readonly string[];
}

function reasonOf(error: unknown, { by, reasons }: Refusal): string {
  if (!(error instanceof by)) throw error;
  const reason = error.reason ?? error.message;
  if (reasons) assert.ok(reasons.includes(reason), `the reason ${reason} is not declared`);
  return reason;
}

/** The input cut into pieces at places that follow from its content, so that a repeat cuts the same. */
export function piecesOf(input: Buffer): Buffer[] {
  const random = createRandom(input.reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619), 2_166_136_261));
  const longest = random.pick([1, 3, 16, 200]);
  const pieces: Buffer[] = [];
  for (let at = 0; at < input.length;) {
    const length = 1 + random.below(longest);
    // A copy, as from a socket: pieces do not lie beside each other in memory.
    pieces.push(Buffer.from(input.subarray(at, at + length)));
    at += length;
  }
  return pieces;
}

/** What a reader of a stream makes of it: everything up to its end or to a refusal. */
export function readAll<T>(read: (bytes: Buffer) => T[], pieces: readonly Buffer[], refusal: Refusal) {
  const parts: T[] = [];
  for (const piece of pieces) {
    const outcome = attempt(() => read(piece), refusal);
    if ('refused' in outcome) return { parts, refused: outcome.refused };
    parts.push(...outcome.read);
  }
  return { parts, refused: undefined };
}

/** Records of a 16-bit length and so many bytes; the last one is what is left. */
export function recordsOf(input: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at + 2 <= input.length;) {
    const end = at + 2 + input.readUInt16BE(at);
    records.push(input.subarray(at + 2, end));
    at = end;
  }
  return records;
}

export function totalBytes(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
