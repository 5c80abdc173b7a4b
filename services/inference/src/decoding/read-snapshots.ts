import type { Readable } from 'node:stream';
import type { RgbImage } from '../domain/rgb-image.ts';
import { onRecords } from './frame-records.ts';
import type { FrameRecord } from './frame-records.ts';

/** A frame in the size of a snapshot, as the decoder gives it. */
export interface DecodedSnapshot {
  /** Presentation time on the source's own clock, milliseconds: that of a sampled frame. */
  ptsMs: number;
  pixels: RgbImage;
}

export interface SnapshotOutput {
  /** Raw pixels, and one record for each image. */
  pixels: Readable;
  records: Readable;
  /** Their size, once ffmpeg has named it; undefined when it ends before. */
  size: Promise<{ width: number; height: number } | undefined>;
  /** Largest side that was asked for. */
  maxSide: number;
}

const CHANNELS = 3;
const MOST_IMAGES = 2;
const MOST_RECORDS = 64;

/**
 * Reads the second output of a decoder as it comes, even if its images are not used: a pipe that is not read would hold
 * up the frames. Output that contradicts itself (a size above the one asked for, images without records) gives no more
 * images, and is still read to its end.
 */
export function readSnapshots(output: SnapshotOutput, onSnapshot: (snapshot: DecodedSnapshot) => void): void {
  const records: FrameRecord[] = [];
  const images: RgbImage[] = [];
  let assemble: ((bytes: Buffer) => void) | undefined;
  let isUsable = true;
  const giveUp = () => {
    isUsable = false;
    assemble = undefined;
    records.length = 0;
    images.length = 0;
  };
  const pair = () => {
    if (records.length > MOST_RECORDS || images.length > MOST_IMAGES) giveUp();
    while (records.length > 0 && images.length > 0) {
      const [record, pixels] = [records.shift(), images.shift()];
      if (record && pixels) onSnapshot({ ptsMs: record.ptsMs, pixels });
    }
  };
  let hasBegun = false;
  onRecords(output.records, (record) => {
    // ffmpeg has rebuilt its filters, because the source has changed its size: so have the images.
    if (record.number === 0 && hasBegun) giveUp();
    hasBegun = true;
    if (!isUsable) return;
    records.push(record);
    pair();
  });
  output.pixels.on('data', (bytes: Buffer) => assemble?.(bytes));
  // Nothing is read before the size is known; then everything is.
  output.pixels.pause();
  for (const stream of [output.pixels, output.records]) stream.on('error', () => undefined);
  void output.size.then((size) => {
    if (size && isUsable && isWithin(size, output.maxSide)) {
      assemble = cutInto(size, (pixels) => {
        images.push(pixels);
        pair();
      });
    } else giveUp();
    output.pixels.resume();
  });
}

const isWithin = ({ width, height }: { width: number; height: number }, maxSide: number) =>
  width >= 1 && height >= 1 && width <= maxSide && height <= maxSide;

/** Cuts bytes into images of one size; what is left at the end is dropped. */
function cutInto({ width, height }: { width: number; height: number }, onImage: (image: RgbImage) => void) {
  const size = width * height * CHANNELS;
  let data: Buffer | undefined;
  let filled = 0;
  return (bytes: Buffer) => {
    for (let at = 0; at < bytes.length;) {
      data ??= Buffer.allocUnsafe(size);
      const copied = bytes.copy(data, filled, at);
      at += copied;
      filled += copied;
      if (filled < size) continue;
      const image = { width, height, data };
      [data, filled] = [undefined, 0];
      onImage(image);
    }
  };
}
