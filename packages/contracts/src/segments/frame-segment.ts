import { crc32 } from 'node:zlib';
import type { TrackedObject } from '../detection.ts';
import { frameData } from '../frame-data.ts';
import type { FrameData } from '../frame-data.ts';
import { ByteReader, ByteWriter, SegmentDamagedError } from './bytes.ts';
import { decodeBody, objectsIn } from './decode-body.ts';
import type { FrameObjects } from './encode-body.ts';
import { encodeBody } from './encode-body.ts';
import { decodeHeads, encodeHeads } from './head.ts';
import type { FrameHead } from './head.ts';
import { packedLength, unpackedLength } from './pack.ts';

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
  /** Of heads and body, each unpacked. */
  bytes: 4 * 1024 * 1024,
  /** Of numbers of frames, attempts and sides of images, which receivers store as 32 bits. */
  number: 2 ** 31 - 1,
} as const;

const VERSION = 1;
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

/** What stands before the frames, and says how much they are before anything is unpacked. */
interface Header {
  jobId: string;
  attempt: number;
  isLive: boolean | undefined;
  firstSeq: number;
  lastSeq: number;
  frames: number;
  size: number;
}

/**
 * Frames as the bytes of one `vision.frame.segment.v1`. They have to belong together as `splitIntoFrameSegments` cuts
 * them; frames come back exactly as they are.
 *
 * The value is: version (1 byte), job id (16), attempt, liveness, first number, what the last number is larger,
 * number of frames, size (whole numbers of variable length); heads, body (each with its length before it, packed as
 * results stores them, positions all 0); CRC-32 of all that (4 bytes).
 */
export function encodeFrameSegment(frames: readonly FrameData[]): Buffer {
  const [first, last] = [frames[0], frames.at(-1)];
  if (!first || !last) throw new Error('a segment holds one frame at least');
  const out = new ByteWriter();
  out.byte(VERSION);
  out.bytes(Buffer.from(first.job_id.replaceAll('-', ''), 'hex'));
  out.unsigned(first.attempt);
  out.byte(LIVENESS.indexOf(first.is_live));
  out.unsigned(first.seq);
  out.unsigned(last.seq - first.seq);
  out.unsigned(frames.length);
  out.unsigned(frames.reduce((sum, frame) => sum + sizeOf(frame), 0));
  out.block(encodeHeads(frames.map(headOf), 'fast'));
  const objects = frames.map((frame) => frame.objects);
  out.block(encodeBody(objects, 'fast').bytes);
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
  const reader = new ByteReader(content);
  const header = readHeader(reader);
  if (header.frames < 1 || header.frames > segmentBounds.frames || header.size > segmentBounds.size)
    throw new SegmentDamagedError(`it says that it has ${header.frames} frames and a size of ${header.size}`);
  const most = Math.min(segmentBounds.bytes, MOST_BYTES_OF_SIZE * header.size);
  const heads = decodeHeads(boundedBlock(reader, most));
  const body = boundedBlock(reader, most);
  if (reader.left() > 0) throw new SegmentDamagedError('something follows the objects');
  assertHeads(heads, header);
  const frames = parseFrames(heads, body, header);
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
  const id = Buffer.from(Array.from({ length: ID_BYTES }, () => reader.byte())).toString('hex');
  const jobId = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const attempt = reader.unsigned();
  const liveness = reader.byte();
  if (liveness >= LIVENESS.length) throw new SegmentDamagedError('it does not say whether it is of a live stream');
  const firstSeq = reader.unsigned();
  const lastSeq = firstSeq + reader.unsigned();
  return {
    jobId,
    attempt,
    isLive: LIVENESS[liveness],
    firstSeq,
    lastSeq,
    frames: reader.unsigned(),
    size: reader.unsigned(),
  };
}

/** A packed part; what it says that it unpacks to is bounded, and `unpack` goes no further than that. */
function boundedBlock(reader: ByteReader, most: number): Buffer {
  const block = reader.block();
  if (block.length < packedLength(0)) throw new SegmentDamagedError('it ends too early');
  const length = unpackedLength(block);
  if (length > most) throw new SegmentDamagedError(`a part says that it has ${length} bytes`);
  return block;
}

/** The heads are those that the header speaks of, and say how many objects there are before any is made. */
function assertHeads(heads: readonly FrameHead[], { attempt, firstSeq, lastSeq, frames, size }: Header): void {
  const isNamed = heads.length === frames && heads[0]?.seq === firstSeq && heads.at(-1)?.seq === lastSeq;
  if (!isNamed) throw new SegmentDamagedError('its frames are not those that it names');
  let least = 0;
  let before = -1;
  for (const head of heads) {
    if (head.attempt !== attempt || head.position !== 0) throw new SegmentDamagedError('a head is of something else');
    if (head.seq <= before) throw new SegmentDamagedError('its frames are out of order');
    if (Math.max(head.seq, head.attempt, head.width, head.height) > segmentBounds.number)
      throw new SegmentDamagedError('a number is too large');
    before = head.seq;
    least += FRAME_SIZE + OBJECT_SIZE * head.objects;
    if (head.objects < 0 || least > size) throw new SegmentDamagedError('it has more objects than it says');
  }
}

function parseFrames(heads: readonly FrameHead[], body: Buffer, { jobId, isLive }: Header): FrameData[] {
  const counts = heads.map(({ objects }) => objects);
  const parts = decodeBody(body, counts);
  return heads.map((head, index) => {
    const objects = objectsOf(objectsIn(parts, index));
    if (objects.length !== head.objects) throw new SegmentDamagedError('a frame has another number of objects');
    const { success, data, error } = frameData.safeParse({
      job_id: jobId,
      attempt: head.attempt,
      seq: head.seq,
      frame_time_ms: head.frameTimeMs,
      ...(isLive === undefined ? {} : { is_live: isLive }),
      image: { width: head.width, height: head.height },
      objects,
    });
    if (success) return data;
    const [first] = error.issues;
    throw new SegmentDamagedError(`frame ${head.seq} is none: ${first?.path.join('.')}: ${first?.message}`);
  });
}

/** Objects that are no columns are kept as text; what the text says is checked as everything else. */
function objectsOf(objects: FrameObjects): readonly unknown[] {
  if (typeof objects !== 'string') return objects;
  try {
    return objects.split('\n').map((line) => JSON.parse(line) as unknown);
  } catch (error) {
    throw new SegmentDamagedError('the text of an object is none', { cause: error });
  }
}

const headOf = ({ seq, attempt, frame_time_ms: frameTimeMs, image, objects }: FrameData): FrameHead => ({
  seq,
  position: 0,
  attempt,
  frameTimeMs,
  width: image.width,
  height: image.height,
  objects: objects.length,
});

/** About the length of a frame as JSON; never less than what labels and tracks have in it. */
function sizeOf({ objects }: Pick<FrameData, 'objects'>): number {
  let size = FRAME_SIZE + OBJECT_SIZE * objects.length;
  for (const { label, track_id: track } of objects as readonly Pick<TrackedObject, 'label' | 'track_id'>[])
    size += label.length + track.length;
  return size;
}
