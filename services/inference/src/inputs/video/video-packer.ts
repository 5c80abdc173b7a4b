import { SourceError } from '@vision/streams/source-error';
import { matroskaFrame, matroskaHeader } from './matroska.ts';
import type { MatroskaFrame } from './matroska.ts';
import { MAX_SETS_OF_A_KIND, MAX_UNITS, NAL_RULES, checkParameterSet } from './nal-units.ts';
import type { NalCodec } from './nal-units.ts';

/** Largest frame that is passed on, in encoded bytes. */
export const MAX_PICTURE_BYTES = 8 << 20;
/**
 * Bytes of all parameter sets together; cameras send some hundred. One small change sends all of them again, so this
 * bounds the amplification of a few bytes.
 */
const MAX_SETS_BYTES = 8192;

/** Builds the stream that ffmpeg reads from the payload of an untrusted protocol. */
export interface VideoPacker {
  /**
   * Packs one frame: NAL units without start codes and lengths, or one JPEG. Empty while the stream cannot be decoded.
   * @param isEntry whether the source marks a key frame; often the units show it too
   * @throws SourceError `unreadable` for units that no encoder produces
   */
  pack: (timeMs: number, units: readonly Buffer[], isEntry?: boolean) => Buffer[];
  /** Data was lost: no output until the next frame that can be decoded without it. */
  interrupt: () => void;
}

export interface NalPacker extends VideoPacker {
  /** Adds parameter sets that the source sent outside its frames. */
  learn: (units: readonly Buffer[]) => void;
}

/** Packs frames of H.264 or H.265. Parameter sets among their units replace those of `learn`. */
export function createNalPacker(codec: NalCodec): NalPacker {
  const rules = NAL_RULES[codec];
  let sets: Buffer[][] = groupSets(codec, []);
  let hasHeader = false;
  let isWaiting = true;
  // Whether the next entry must carry the sets, and whether they arrived as units of the stream, which makes the next
  // frame an entry.
  let isOwing = false;
  let isAnnounced = false;

  const learn = (units: readonly Buffer[]): boolean => {
    const newSets = groupSets(codec, units);
    if (newSets.flat().length === 0) return false;
    sets = sets.map((kind, index) => (newSets[index]?.length ? newSets[index] : kind));
    if (sets.flat().reduce((sum, set) => sum + set.length, 0) > MAX_SETS_BYTES) throw new SourceError('unreadable');
    isOwing = true;
    return true;
  };

  const header = (): Buffer[] | undefined => {
    if (hasHeader) return [];
    const codecPrivate = rules.configuration(sets);
    if (codecPrivate === undefined) return undefined;
    hasHeader = true;
    return [matroskaHeader({ codec: codec === 'h264' ? 'V_MPEG4/ISO/AVC' : 'V_MPEGH/ISO/HEVC', codecPrivate })];
  };

  return {
    learn,
    interrupt: () => {
      isWaiting = true;
    },
    pack: (timeMs, units, isEntry = false) => {
      if (units.length > MAX_UNITS) throw new SourceError('unreadable');
      isAnnounced = learn(units) || isAnnounced;
      if (!units.some(rules.isSlice)) return [];
      const isKey = isEntry || isAnnounced || units.some(rules.isEntry);
      if (isWaiting && !isKey) return [];
      const begin = header();
      if (begin === undefined) return [];
      isWaiting = false;
      const carried = isKey && isOwing ? sets.flat() : [];
      if (isKey) [isOwing, isAnnounced] = [false, false];
      const kept = units.filter((unit) => rules.isSlice(unit) || rules.isMessage(unit));
      const data = Buffer.concat([...carried, ...kept].flatMap(withLength));
      return [...begin, frame({ timeMs, isKey, data })];
    },
  };
}

/** Packs complete JPEG frames, each of which is a key frame. */
export function createJpegPacker(): VideoPacker {
  let hasHeader = false;
  return {
    interrupt: () => undefined,
    pack: (timeMs, pictures) => {
      const begin = hasHeader ? [] : [matroskaHeader({ codec: 'V_MJPEG' })];
      hasHeader = true;
      return [...begin, ...pictures.map((data) => frame({ timeMs, isKey: true, data }))];
    },
  };
}

function frame(of: MatroskaFrame): Buffer {
  if (of.data.length > MAX_PICTURE_BYTES) throw new SourceError('unreadable');
  return matroskaFrame(of);
}

/** The parameter sets among some units, by kind, without repetitions. */
function groupSets(codec: NalCodec, units: readonly Buffer[]): Buffer[][] {
  const groups: Buffer[][] = codec === 'h264' ? [[], []] : [[], [], []];
  for (const unit of units) {
    const group = groups[NAL_RULES[codec].parameterSet(unit) ?? -1];
    if (group === undefined || group.some((known) => known.equals(unit))) continue;
    if (group.length >= MAX_SETS_OF_A_KIND) throw new SourceError('unreadable');
    // Sets are stored for long, so they must not retain the larger buffer that they arrived in.
    group.push(Buffer.from(checkParameterSet(unit)));
  }
  return groups;
}

function withLength(unit: Buffer): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(unit.length);
  return [length, unit];
}
