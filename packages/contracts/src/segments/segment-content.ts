import type { FrameData } from '../frame-data.ts';
import { ByteWriter, SegmentDamagedError } from './bytes.ts';
import type { ByteReader } from './bytes.ts';
import { objectsIn, readBody } from './decode-body.ts';
import type { FrameObjects, Words } from './encode-body.ts';
import { writeBody } from './encode-body.ts';
import { readColumn, writeColumn } from './head.ts';

/** What a record of frames says of one of them beside its objects. Job, attempt and liveness stand once, before all. */
export interface ContentHead {
  seq: number;
  frameTimeMs: number;
  width: number;
  height: number;
  /** How many objects it has. */
  objects: number;
}

/** The order in which they are written. */
const COLUMNS: readonly ((frame: FrameData) => number)[] = [
  ({ seq }) => seq,
  ({ frame_time_ms: frameTimeMs }) => frameTimeMs,
  ({ image }) => image.width,
  ({ image }) => image.height,
  ({ objects }) => objects.length,
];

/**
 * Frames of one record: their heads, column by column, then their objects as results stores them. Most records have a
 * frame or two, so what a stored segment has beside that (lengths, checksums, names of the words) is left out.
 */
export function writeContent(frames: readonly FrameData[]): Buffer {
  const out = new ByteWriter();
  const values = new Float64Array(frames.length);
  for (const valueOf of COLUMNS) {
    frames.forEach((frame, at) => {
      values[at] = valueOf(frame);
    });
    writeColumn(out, values);
  }
  const objects = frames.map((frame) => frame.objects);
  out.bytes(writeBody(objects, textOfWords).content);
  return Buffer.from(out.written());
}

/** The heads of so many frames, as `writeContent` wrote them. @throws SegmentDamagedError for anything else */
export function readContentHeads(reader: ByteReader, count: number): ContentHead[] {
  // Every number takes a byte at least, so what is made here is bounded by what is there.
  if (count * COLUMNS.length > reader.left()) throw new SegmentDamagedError('it ends too early');
  const seqs = readColumn(reader, count);
  const times = readColumn(reader, count);
  const widths = readColumn(reader, count);
  const heights = readColumn(reader, count);
  const objects = readColumn(reader, count);
  return seqs.map((seq, at) => ({
    seq,
    frameTimeMs: times[at] ?? 0,
    width: widths[at] ?? 0,
    height: heights[at] ?? 0,
    objects: objects[at] ?? 0,
  }));
}

/** The objects of each frame, which follow the heads. @throws SegmentDamagedError for anything else */
export function readContentObjects(reader: ByteReader, heads: readonly ContentHead[]): (readonly unknown[])[] {
  const counts = heads.map(({ objects }) => objects);
  const parts = readBody(reader, counts, wordsOf);
  if (reader.left() > 0) throw new SegmentDamagedError('something follows the objects');
  return heads.map((head, index) => {
    const objects = asObjects(objectsIn(parts, index));
    if (objects.length !== head.objects) throw new SegmentDamagedError('a frame has another number of objects');
    return objects;
  });
}

/** A list: the names of its parts would be a tenth of a record with one frame. */
const textOfWords = ({ labels, tracks, texts }: Words) =>
  JSON.stringify(texts.length > 0 ? [labels, tracks, texts] : [labels, tracks]);

const wordsOf = (list: unknown): unknown => {
  const [labels, tracks, texts = []] = Array.isArray(list) ? (list as unknown[]) : [];
  return { labels, tracks, texts };
};

/** Objects that are no columns are written as text; what the text says is checked as everything else. */
function asObjects(objects: FrameObjects): readonly unknown[] {
  if (typeof objects !== 'string') return objects;
  try {
    return objects.split('\n').map((line) => JSON.parse(line) as unknown);
  } catch (error) {
    throw new SegmentDamagedError('the text of an object is none', { cause: error });
  }
}
