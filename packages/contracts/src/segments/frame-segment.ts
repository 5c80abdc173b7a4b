import { crc32 } from 'node:zlib';
import type { TrackedObject } from '../detection.ts';
import { frameData } from '../frame-data.ts';
import type { FrameData } from '../frame-data.ts';
import { ByteReader, ByteWriter, SegmentDamagedError } from './bytes.ts';
import { compress, decompress } from './pack.ts';
import { readContentHeads, readContentObjects, writeContent } from './segment-content.ts';
import type { ContentHead } from './segment-content.ts';

/** Frames of one attempt of a job, in the order of their numbers. */
export interface FrameSegment {
  job_id: string;
  attempt: number;
  /** At least one. */
  frames: FrameData[];
}

/** The bounds of what one segment may hold, however it is compressed. */
export const segmentBounds = {
  frames: 512,
  /** Of `sizeOf` all frames: a frame with as many objects as the contract allows fits. */
  size: 4 * 1024 * 1024,
  /** Of heads and objects together, unpacked. */
  bytes: 4 * 1024 * 1024,
  /** Of numbers of frames, attempts and sides of images, which receivers store as 32 bits. */
  number: 2 ** 31 - 1,
} as const;

/** No release wrote form 1. */
const VERSION = 2;
const ID_BYTES = 16;
const CHECKSUM_BYTES = 4;
/** About what a frame and an object take as JSON, without labels and tracks. */
const FRAME_SIZE = 200;
const OBJECT_SIZE = 200;
/** A label is never longer: each character as an escape of six, and its backslash escaped again within a text. */
const MOST_BYTES_OF_SIZE = 8;
/** A frame of a usual scene has about this size, so a segment loads a receiver as its frames would. */
const USUAL_SIZE = 2_048;
/** `is_live` of all frames, by its number in the header. */
const LIVENESS = [undefined, false, true] as const;
/** Added to it when the content is compressed. */
const COMPRESSED = 4;

/** What stands before the frames, and says how much they are before anything is unpacked. */
interface Header {
  jobId: string;
  attempt: number;
  isLive: boolean | undefined;
  frames: number;
  size: number;
  /** Length of the content when it is unpacked; undefined when it is not compressed. */
  unpacked: number | undefined;
}

/**
 * Frames as the bytes of one `vision.frame.segment.v1`. They have to belong together as `splitIntoFrameSegments` cuts
 * them; frames come back exactly as they are.
 *
 * The value is: version (1 byte), job id (16), liveness and whether the content is compressed (1), attempt, number of
 * frames, size and, of a compressed content, its length (whole numbers of variable length); the content; CRC-32 of all
 * that (4 bytes).
 */
export function encodeFrameSegment(frames: readonly FrameData[]): Buffer {
  const [first] = frames;
  if (!first) throw new Error('a segment holds one frame at least');
  const content = writeContent(frames);
  const compressed = compress(content, 'fast');
  const out = new ByteWriter();
  out.byte(VERSION);
  out.bytes(Buffer.from(first.job_id.replaceAll('-', ''), 'hex'));
  out.byte(LIVENESS.indexOf(first.is_live) + (compressed ? COMPRESSED : 0));
  out.unsigned(first.attempt);
  out.unsigned(frames.length);
  out.unsigned(frames.reduce((sum, frame) => sum + sizeOf(frame), 0));
  if (compressed) out.unsigned(content.length);
  out.bytes(compressed ?? content);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(out.written()));
  out.bytes(checksum);
  return Buffer.from(out.written());
}

/**
 * Cuts frames, in the order in which they came, into runs that fit into one segment each: of one attempt of one job,
 * with numbers that grow, and of a size that brokers and receivers take without effort.
 */
export function splitIntoFrameSegments(frames: readonly FrameData[]): FrameData[][] {
  const runs: FrameData[][] = [];
  let size = 0;
  let before: FrameData | undefined;
  for (const frame of frames) {
    const own = sizeOf(frame);
    const run = runs.at(-1);
    if (run && before && follows(before, frame) && run.length < segmentBounds.frames && size + own <= USUAL_SEGMENT) {
      run.push(frame);
      size += own;
    } else {
      runs.push([frame]);
      size = own;
    }
    before = frame;
  }
  return runs;
}

/** Whether a run is of usual size. A single frame that is not is better sent by itself. */
export const fitsSegment = (run: readonly FrameData[]): boolean =>
  run.reduce((sum, frame) => sum + sizeOf(frame), 0) <= USUAL_SEGMENT;

/** Far below what a broker takes by default, even when nothing of it can be compressed. */
const USUAL_SEGMENT = 256 * 1024;

const follows = (before: FrameData, frame: FrameData) =>
  frame.job_id === before.job_id &&
  frame.attempt === before.attempt &&
  frame.is_live === before.is_live &&
  frame.seq > before.seq;

/**
 * The frames of a segment. Nothing in it is trusted: it is bounded before it is unpacked, compared with what its header
 * says, and every frame has to be one that could have come by itself.
 * @throws SegmentDamagedError for anything that `encodeFrameSegment` did not write.
 */
export function decodeFrameSegment(value: Uint8Array): FrameSegment {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (bytes.length < CHECKSUM_BYTES) throw new SegmentDamagedError('it ends too early');
  const content = bytes.subarray(0, -CHECKSUM_BYTES);
  if (crc32(content) !== bytes.readUInt32BE(content.length)) throw new SegmentDamagedError('its checksum is wrong');
  const start = new ByteReader(content);
  const header = readHeader(start);
  if (header.frames < 1 || header.frames > segmentBounds.frames || header.size > segmentBounds.size)
    throw new SegmentDamagedError(`it says that it has ${header.frames} frames and a size of ${header.size}`);
  const reader = new ByteReader(unpackedContent(content.subarray(content.length - start.left()), header));
  const heads = readContentHeads(reader, header.frames);
  assertHeads(heads, header);
  const frames = parseFrames(heads, readContentObjects(reader, heads), header);
  if (frames.reduce((sum, frame) => sum + sizeOf(frame), 0) !== header.size)
    throw new SegmentDamagedError('it has another size than it says');
  return { job_id: header.jobId, attempt: header.attempt, frames };
}

/** For how many single frames a segment counts, as its header says; 1 for what has no such header. */
export function loadOfSegment(value: Uint8Array): number {
  try {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const { frames, size } = readHeader(new ByteReader(bytes));
    return Math.max(1, frames, Math.ceil(size / USUAL_SIZE));
  } catch {
    return 1;
  }
}

function readHeader(reader: ByteReader): Header {
  const version = reader.byte();
  if (version !== VERSION) throw new SegmentDamagedError(`its version is ${version}`);
  const id = reader.bytes(ID_BYTES).toString('hex');
  const parts = [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)];
  const jobId = parts.join('-');
  const form = reader.byte();
  const isLive = LIVENESS[form % COMPRESSED];
  if (form % COMPRESSED >= LIVENESS.length || form >= 2 * COMPRESSED)
    throw new SegmentDamagedError('its form is unknown');
  return {
    jobId,
    attempt: reader.unsigned(),
    isLive,
    frames: reader.unsigned(),
    size: reader.unsigned(),
    unpacked: form >= COMPRESSED ? reader.unsigned() : undefined,
  };
}

/** Bounded by the size in the header: nothing is unpacked that says that it is larger, nor beyond what it says. */
function unpackedContent(content: Buffer, { size, unpacked }: Header): Buffer {
  const length = unpacked ?? content.length;
  if (length > Math.min(segmentBounds.bytes, MOST_BYTES_OF_SIZE * size))
    throw new SegmentDamagedError(`its content says that it has ${length} bytes`);
  if (unpacked === undefined) return content;
  const whole = decompress(content, unpacked);
  if (whole.length !== unpacked) throw new SegmentDamagedError('its content has another length than it says');
  return whole;
}

/** The heads are in order and bounded, and say how many objects there are before any is made. */
function assertHeads(heads: readonly ContentHead[], { attempt, size }: Header): void {
  let least = 0;
  let before = -1;
  for (const { seq, width, height, objects } of heads) {
    if (seq <= before) throw new SegmentDamagedError('its frames are out of order');
    if (Math.max(seq, attempt, width, height) > segmentBounds.number)
      throw new SegmentDamagedError('a number is too large');
    before = seq;
    least += FRAME_SIZE + OBJECT_SIZE * objects;
    if (objects < 0 || least > size) throw new SegmentDamagedError('it has more objects than it says');
  }
}

function parseFrames(
  heads: readonly ContentHead[],
  objects: readonly (readonly unknown[])[],
  { jobId, attempt, isLive }: Header,
): FrameData[] {
  return heads.map(({ seq, frameTimeMs, width, height }, index) => {
    const { success, data, error } = frameData.safeParse({
      job_id: jobId,
      attempt,
      seq,
      frame_time_ms: frameTimeMs,
      ...(isLive === undefined ? {} : { is_live: isLive }),
      image: { width, height },
      objects: objects[index],
    });
    if (success) return data;
    const [first] = error.issues;
    throw new SegmentDamagedError(`frame ${seq} is none: ${first?.path.join('.')}: ${first?.message}`);
  });
}

/** About the length of a frame as JSON; never less than what labels and tracks have in it. */
function sizeOf({ objects }: Pick<FrameData, 'objects'>): number {
  let size = FRAME_SIZE + OBJECT_SIZE * objects.length;
  for (const { label, track_id: track } of objects as readonly Pick<TrackedObject, 'label' | 'track_id'>[])
    size += label.length + track.length;
  return size;
}
