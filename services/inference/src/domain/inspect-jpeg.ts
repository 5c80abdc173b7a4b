import { profileMs } from './colour-profile.ts';
import { ImageRefusedError } from './image-error.ts';
import type { Inspection } from './inspection.ts';
import { MAX_CHUNKS, MAX_SCANS } from './image-limits.ts';

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Application segment that holds a colour profile, or one part of a large profile. */
const PROFILE = 0xe2;

/** Frame headers are C0 to CF, except the tables C4 and CC and the reserved C8. */
const isFrameHeader = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Milliseconds per MiB of coefficients: baseline and extended, progressive. */
const MS_PER_MIB: Partial<Record<number, number>> = { 0xc0: 14, 0xc1: 14, 0xc2: 35 };
/** Arithmetic coding, and other rarely used codings. */
const ODD_MS_PER_MIB = 140;
/** Nanoseconds per pixel in each scan. */
const PIXEL_NS = 1;
/** CMYK is converted by tables, for the pixels that are left after scaling. */
const INKS_MS = 100;
const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7;
/** Markers without a length: TEM and the reserved ones beside it, RST0 to RST7, SOI. */
const standsAlone = (marker: number) => marker < 0xc0 || isRestart(marker) || marker === 0xd8;

/**
 * Size and cost of a JPEG by its only frame header (ITU-T T.81, annex B) and its scans. Markers are found as libjpeg
 * finds them, skipping stray bytes; otherwise a decoder would see another image than this function.
 * @throws ImageRefusedError `not_decodable` for more than one frame, more than 100 scans, too many markers, or no frame
 * at all.
 */
export function inspectJpeg(bytes: Buffer): Inspection {
  let frame: Frame | undefined;
  let scans = 0;
  let scanBytes = 0;
  let markers = 0;
  let profileBytes = 0;
  for (let at = nextMarker(bytes, 2, false); at < bytes.length; markers += 1) {
    const marker = bytes[at] ?? END_OF_IMAGE;
    if (marker === END_OF_IMAGE) break;
    const isScan = marker === START_OF_SCAN;
    if (isScan) scans += 1;
    if (scans > MAX_SCANS || markers >= MAX_CHUNKS) throw new ImageRefusedError('not_decodable');
    if (isFrameHeader(marker)) {
      if (frame || at + 8 > bytes.length) throw new ImageRefusedError('not_decodable');
      const [height, width] = [bytes.readUInt16BE(at + 4), bytes.readUInt16BE(at + 6)];
      frame = { marker, height, width, components: bytes[at + 8] };
    }
    if (marker === PROFILE && bytes.toString('latin1', at + 3, at + 14) === 'ICC_PROFILE')
      profileBytes += endOfSegment(bytes, at + 1) - at;
    const end = standsAlone(marker) ? at + 1 : endOfSegment(bytes, at + 1);
    at = nextMarker(bytes, end, isScan);
    if (isScan) scanBytes += at - end;
  }
  if (!frame) throw new ImageRefusedError('not_decodable');
  const { width, height } = frame;
  return { width, height, expectedMs: expectedMs(frame, scans, scanBytes) + profileMs(profileBytes) };
}

interface Frame {
  marker: number;
  width: number;
  height: number;
  components: number | undefined;
}

function expectedMs({ marker, width, height, components }: Frame, scans: number, scanBytes: number): number {
  const unpacking = (scanBytes / 2 ** 20) * (MS_PER_MIB[marker] ?? ODD_MS_PER_MIB);
  const colours = components === 4 ? INKS_MS : 0;
  return unpacking + colours + (width * height * scans * PIXEL_NS) / 1e6;
}

/** The length at the beginning of a segment counts itself. */
function endOfSegment(bytes: Buffer, at: number): number {
  return at + 2 > bytes.length ? bytes.length : at + bytes.readUInt16BE(at);
}

/**
 * Position of the next marker's code; the length of the image when there is none. FF 00 is a byte of data, any number
 * of FF may precede a code, and restarts belong to a scan. One pass, because all 8 MiB may look like markers.
 */
function nextMarker(bytes: Buffer, from: number, isInScan: boolean): number {
  let isAfterFf = false;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isAfterFf && byte !== 0xff && byte !== 0 && !(isInScan && isRestart(byte))) return at;
    isAfterFf = byte === 0xff;
  }
  return bytes.length;
}
