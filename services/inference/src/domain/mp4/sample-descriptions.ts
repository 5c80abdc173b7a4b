import { Mp4RefusedError, nameOf } from './box.ts';
import { STRUCTURAL } from './ffmpeg-boxes.ts';

/** Configurations of codecs and colour profiles have some kilobytes. */
const MAX_BYTES = 1024 * 1024;
/** What a video description has before its boxes. Readers of several descriptions stay in step with these only. */
const VIDEO_BYTES = 86;
const MAX_DESCRIPTIONS = 64;

/**
 * Validates `stsd`: its descriptions lie within it, and none of them spells a box that describes samples or tracks.
 * @throws Mp4RefusedError
 */
export function validateSampleDescriptions(data: Buffer): void {
  if (data.length < 8) throw new Mp4RefusedError("'stsd' is incomplete");
  if (data.length > MAX_BYTES) throw new Mp4RefusedError("'stsd' is too large");
  const count = data.readUInt32BE(4);
  if (count > MAX_DESCRIPTIONS) throw new Mp4RefusedError("'stsd' holds too many descriptions");
  let at = 8;
  for (let left = count; left > 0; left -= 1) {
    const bytes = at + 8 <= data.length ? data.readUInt32BE(at) : 0;
    if (bytes < 8 || at + bytes > data.length) throw new Mp4RefusedError("'stsd' declares more than it holds");
    if (count > 1 && bytes < VIDEO_BYTES) throw new Mp4RefusedError("'stsd' holds several short descriptions");
    if (hasPalette(data.subarray(at, at + bytes))) throw new Mp4RefusedError("'stsd' holds a palette");
    at += bytes;
  }
  refuseStructure(data);
}

/** With a depth of 8 bits or less and no numbered palette, ffmpeg reads one behind the description. */
function hasPalette(description: Buffer): boolean {
  if (description.length < VIDEO_BYTES) return false;
  const depth = description.readUInt16BE(82);
  return [1, 2, 4, 8].includes(depth) && description.readUInt16BE(84) === 0;
}

const SPELLINGS = new Map([...STRUCTURAL].map((type) => [Buffer.from(type, 'latin1').readUInt32BE(), type]));

function refuseStructure(data: Buffer): void {
  for (let at = 8; at + 4 <= data.length; at += 1) {
    const type = SPELLINGS.get(data.readUInt32BE(at));
    if (type !== undefined) throw new Mp4RefusedError(`${nameOf(type)} in 'stsd'`);
  }
}
