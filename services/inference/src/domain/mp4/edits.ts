import { Mp4RefusedError } from './box.ts';

/** Cameras and editors write one or two; each entry makes a decoder seek. */
const MAX_EDITS = 256;

/** A part of the track that is played; `ticks` in units of the movie's clock, 0 for all that there is. */
export interface Edit {
  ticks: number;
  /** Nothing is shown: what follows begins later. */
  isPause: boolean;
}

/**
 * The entries of an edit list. Where the count and the size of the box differ, ffmpeg goes by the size.
 * @throws Mp4RefusedError
 */
export function readEdits(data: Buffer): Edit[] {
  if (data.length < 8) throw new Mp4RefusedError("'elst' is incomplete");
  const isLong = data[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  const held = Math.floor((data.length - 8) / entryBytes);
  if (Math.max(held, data.readUInt32BE(4)) > MAX_EDITS) throw new Mp4RefusedError("'elst' holds too many edits");
  return Array.from({ length: held }, (_, index) => {
    const at = 8 + index * entryBytes;
    const ticks = isLong ? Number(data.readBigUInt64BE(at)) : data.readUInt32BE(at);
    const start = isLong ? data.readBigInt64BE(at + 8) : BigInt(data.readInt32BE(at + 4));
    return { ticks, isPause: start === -1n };
  });
}
