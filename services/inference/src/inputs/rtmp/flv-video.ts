import { SourceError } from '@vision/streams/source-error';
import { createTimeline } from '../video/timeline.ts';
import { MAX_UNITS } from '../video/nal-units.ts';
import type { NalCodec } from '../video/nal-units.ts';
import { createNalPacker } from '../video/video-packer.ts';
import { readAvcConfiguration, readHevcConfiguration } from './codec-configuration.ts';

const CODECS: Partial<Record<number, NalCodec>> = { 7: 'h264', 12: 'h265' };
const FOUR_CC: Partial<Record<string, NalCodec>> = { avc1: 'h264', hvc1: 'h265' };
const COMMAND_FRAME = 5;
const KEY_FRAME = 1;
const LONGEST_OFFSET_MS = 10_000;

interface VideoTag {
  codec: NalCodec;
  kind: 'configuration' | 'picture' | 'other';
  isKey: boolean;
  /** Presentation time minus decoding time, in milliseconds. */
  offsetMs: number;
  data: Buffer;
}

/**
 * Converts the video messages of RTMP (FLV tag bodies; enhanced RTMP too) to the stream that ffmpeg reads.
 *
 * @param onUnits receives the number of units in each message
 * @returns a function from a message's time and body to the completed output. It throws SourceError `codec_unsupported`
 * for other codecs, `format_changed` when the codec changes, `unreadable` for a body that is no video.
 */
export function createFlvVideo(
  onUnits: (count: number) => void = () => undefined,
): (timestamp: number, body: Buffer) => Buffer[] {
  const timeOf = createTimeline(1000);
  let opened: { codec: NalCodec; packer: ReturnType<typeof createNalPacker>; lengthBytes: number } | undefined;
  return (timestamp, body) => {
    const decodedMs = timeOf(timestamp);
    const tag = readTag(body);
    if (tag === undefined || tag.kind === 'other') return [];
    const { codec, kind, data, isKey, offsetMs } = tag;
    if (opened && opened.codec !== codec) throw new SourceError('format_changed');
    if (kind === 'configuration') {
      const { sets, lengthBytes } = codec === 'h264' ? readAvcConfiguration(data) : readHevcConfiguration(data);
      onUnits(sets.length);
      opened = { codec, packer: opened?.packer ?? createNalPacker(codec), lengthBytes };
      opened.packer.learn(sets);
      return [];
    }
    // We joined before the codec's description arrived.
    if (!opened) return [];
    const units = divide(data, opened.lengthBytes);
    onUnits(units.length);
    return opened.packer.pack(Math.max(0, decodedMs + offsetMs), units, isKey);
  };
}

function readTag(body: Buffer): VideoTag | undefined {
  const [first = 0] = body;
  const frameType = (first >> 4) & 7;
  if (body.length < 2 || frameType === COMMAND_FRAME) return undefined;
  return (first & 0x80) === 0 ? readLegacyTag(body, frameType) : readEnhancedTag(body, frameType);
}

/** Adobe, "Video File Format Specification 10.1", E.4.3; some servers use 12 for H.265 in the same format. */
function readLegacyTag(body: Buffer, frameType: number): VideoTag {
  const codec = CODECS[(body[0] ?? 0) & 0x0f];
  if (codec === undefined) throw new SourceError('codec_unsupported');
  const kind = (['configuration', 'picture'] as const)[body[1] ?? 2] ?? 'other';
  if (kind !== 'other' && body.length < 5) throw new SourceError('unreadable');
  const offsetMs = kind === 'picture' ? offsetOf(body, 2) : 0;
  return { codec, kind, isKey: frameType === KEY_FRAME, offsetMs, data: body.subarray(5) };
}

/** Veovera, "Enhanced RTMP v1": 0 configuration, 1 frame with an offset, 3 frame without one. */
function readEnhancedTag(body: Buffer, frameType: number): VideoTag {
  const packetType = (body[0] ?? 0) & 0x0f;
  const codec = FOUR_CC[body.toString('latin1', 1, 5)];
  if (codec === undefined || packetType > 4) throw new SourceError('codec_unsupported');
  const isKey = frameType === KEY_FRAME;
  if (packetType === 0) return { codec, kind: 'configuration', isKey, offsetMs: 0, data: body.subarray(5) };
  if (packetType === 3) return { codec, kind: 'picture', isKey, offsetMs: 0, data: body.subarray(5) };
  if (packetType !== 1) return { codec, kind: 'other', isKey, offsetMs: 0, data: Buffer.alloc(0) };
  if (body.length < 8) throw new SourceError('unreadable');
  return { codec, kind: 'picture', isKey, offsetMs: offsetOf(body, 5), data: body.subarray(8) };
}

function offsetOf(body: Buffer, at: number): number {
  const offset = body.readIntBE(at, 3);
  return Math.abs(offset) > LONGEST_OFFSET_MS ? 0 : offset;
}

/** Splits a frame into its units, each after its length. */
function divide(bytes: Buffer, lengthBytes: number): Buffer[] {
  const units: Buffer[] = [];
  let lengths = 0;
  for (let at = 0; at < bytes.length;) {
    lengths += 1;
    if (lengths > MAX_UNITS) throw new SourceError('unreadable');
    const start = at + lengthBytes;
    const end = start + (start <= bytes.length ? bytes.readUIntBE(at, lengthBytes) : 0);
    if (start > bytes.length || end > bytes.length) throw new SourceError('unreadable');
    if (end > start) units.push(bytes.subarray(start, end));
    at = end;
  }
  return units;
}
