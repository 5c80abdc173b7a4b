import { boxesIn, HEADER_BYTES, Mp4RefusedError, nameOf, readHeader } from './box.ts';
import { isPlace, isSingle, ruleFor } from './grammar.ts';
import type { Place } from './grammar.ts';
import { newMovie, readBox } from './movie.ts';
import type { Movie } from './movie.ts';
import { tracksOf } from './tracks.ts';
import type { Mp4Track } from './tracks.ts';

/** Reads `length` bytes at `position`; shorter at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** Bytes of one index (`moov`): 24 hours at 60 frames a second need less. */
const MAX_INDEX_BYTES = 96 * 1024 * 1024;
/** Bytes of the index of a fragment, of user data and similar boxes. */
const MAX_PART_BYTES = 16 * 1024 * 1024;
/** Top-level boxes: a fragmented file has two for each fragment, and a fragment holds about a second. */
const MAX_BOXES = 200_000;
/** Nested boxes, in all fragments together. */
const MAX_INNER_BOXES = 1_500_000;
/** Small boxes stand close together: one read serves the headers of all of them. */
const WINDOW_BYTES = 4096;

/** Boxes that are read entirely; all others hold coded frames or are ignored by ffmpeg. */
const READ_WHOLE = new Set(['moov', 'moof', 'meta', 'udta', 'sidx']);

/**
 * Validates the structure of an MP4 or MOV file before a decoder sees it. Boxes that ffmpeg interprets must be in their
 * proper parents and hold what they declare; other boxes must be registered. Tracks, edits and boxes are limited to
 * what a video needs. Rotations other than quarter turns are refused, because ffmpeg would rotate each frame pixel by
 * pixel.
 * @returns its tracks
 * @throws Mp4RefusedError
 */
export async function validateMp4(read: ReadAt, fileBytes: number): Promise<Mp4Track[]> {
  const readNear = windowed(read);
  const walk = createWalk();
  let boxes = 0;
  for (let at = 0; at + 8 <= fileBytes;) {
    boxes += 1;
    if (boxes > MAX_BOXES) throw new Mp4RefusedError('more boxes than a video needs');
    const head = await readNear(at, HEADER_BYTES);
    const box = readHeader(head, fileBytes - at);
    // Zeros up to the end: space that a recorder reserved and did not use.
    if (!box || box.type === '\0\0\0\0') break;
    walk.allow('file', box.type);
    refuseHiddenIndex(box.type, head);
    if (READ_WHOLE.has(box.type)) {
      const most = box.type === 'moov' ? MAX_INDEX_BYTES : MAX_PART_BYTES;
      if (box.bytes > most) throw new Mp4RefusedError(`${nameOf(box.type)} is too large`);
      if (at + box.bytes > fileBytes) throw new Mp4RefusedError(`${nameOf(box.type)} is incomplete`);
      walk.into(box.type, (await read(at, box.bytes)).subarray(box.headerBytes));
    }
    at += box.bytes;
  }
  return tracksOf(walk.movie);
}

/** When ffmpeg finds no index, it uses a `free` box that begins like one. */
function refuseHiddenIndex(type: string, head: Buffer): void {
  const inner = head.toString('latin1', 12, 16);
  if (type !== 'moov' && (inner === 'mvhd' || inner === 'cmov')) {
    throw new Mp4RefusedError(`an index in ${nameOf(type)}`);
  }
}

function windowed(read: ReadAt): ReadAt {
  let start = 0;
  let bytes: Buffer = Buffer.alloc(0);
  return async (position, length) => {
    if (position < start || position + length > start + bytes.length) {
      bytes = await read(position, WINDOW_BYTES);
      start = position;
    }
    return bytes.subarray(position - start, position - start + length);
  };
}

function createWalk() {
  const movie: Movie = newMovie();
  const singles = new Map<Place, Set<string>>();
  let boxes = 0;

  const allow = (place: Place, type: string): boolean => {
    const rule = ruleFor(place, type);
    if (rule === 'refused') throw new Mp4RefusedError(`${nameOf(type)} in '${place}'`);
    if (isSingle(place, type)) {
      const seen = singles.get(place) ?? new Set();
      if (seen.has(type)) throw new Mp4RefusedError(`more than one ${nameOf(type)} in '${place}'`);
      singles.set(place, seen.add(type));
    }
    return rule === 'interpreted';
  };
  /** The grammar allows no box inside a box of its own type, so the recursion ends. */
  const into = (type: string, data: Buffer): void => {
    readBox(movie, type, data);
    if (!isPlace(type)) return;
    singles.delete(type);
    for (const box of boxesIn(contentOf(type, data), type)) {
      boxes += 1;
      if (boxes > MAX_INNER_BOXES) throw new Mp4RefusedError('more boxes than a video needs');
      if (allow(type, box.type)) into(box.type, box.data);
    }
  };
  return { movie, allow, into };
}

/** ffmpeg searches for the handler of `meta` at every fourth byte, and reads its boxes from there. */
function contentOf(type: string, data: Buffer): Buffer {
  if (type !== 'meta') return data;
  for (let at = 0; at + 8 < data.length; at += 4) {
    if (data.toString('latin1', at, at + 4) !== 'hdlr') continue;
    if (at === 0) throw new Mp4RefusedError("'hdlr' has no size");
    return data.subarray(at - 4);
  }
  return data.subarray(data.length);
}
