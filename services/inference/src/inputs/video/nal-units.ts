import { SourceError } from '@vision/streams/source-error';

export type NalCodec = 'h264' | 'h265';

/** Rules for the NAL units of one codec. */
export interface NalRules {
  /** Index of a parameter set in the order that decoders expect, from 0; undefined for every other unit. */
  parameterSet: (unit: Buffer) => number | undefined;
  /** Whether it carries a part of a frame. */
  isSlice: (unit: Buffer) => boolean;
  /** Whether a decoder may begin at the frame of this unit. */
  isEntry: (unit: Buffer) => boolean;
  /** Units that are passed on beside slices and parameter sets: messages that mark where decoding may begin. */
  isMessage: (unit: Buffer) => boolean;
  /** The record that precedes the first frame; undefined when a set is missing or too short. */
  configuration: (sets: readonly (readonly Buffer[])[]) => Buffer | undefined;
}

/**
 * Names (Rec. ITU-T H.264 table 7-1): 1, 5 slices; 6 SEI; 7 SPS; 8 PPS. Data partitions (2–4) are of a profile
 * no camera uses.
 */
const H264: NalRules = {
  parameterSet: (unit) => indexOrUndefined([7, 8], h264Type(unit)),
  isSlice: (unit) => h264Type(unit) === 1 || h264Type(unit) === 5,
  isEntry: (unit) => h264Type(unit) === 5 || h264Type(unit) === 7 || isRecoveryPoint(unit),
  isMessage: (unit) => h264Type(unit) === 6,
  configuration: avcConfiguration,
};

/**
 * Names (Rec. ITU-T H.265 table 7-1): 0–9 and 16–21 slices, of which from 16 on entries; 32 VPS; 33 SPS; 34
 * PPS; 39 SEI.
 */
const H265: NalRules = {
  parameterSet: (unit) => indexOrUndefined([32, 33, 34], h265Type(unit)),
  isSlice: (unit) => h265Type(unit) <= 9 || (h265Type(unit) >= 16 && h265Type(unit) <= 21),
  isEntry: (unit) => h265Type(unit) >= 16 && h265Type(unit) <= 21,
  isMessage: (unit) => h265Type(unit) === 39,
  configuration: hevcConfiguration,
};

export const NAL_RULES: Record<NalCodec, NalRules> = { h264: H264, h265: H265 };

const MAX_PARAMETER_SET = 4096;
/** Most parameter sets of one kind that a stream may have. */
export const MAX_SETS_OF_A_KIND = 16;
/** Most units that a description of a stream may hold. */
export const MAX_SETS = 64;
/** Maximum number of units in one frame: no encoder splits a frame into more. */
export const MAX_UNITS = 4096;

/** @throws SourceError `unreadable` for a set that no encoder produces: it would be stored and sent repeatedly. */
export function checkParameterSet(unit: Buffer): Buffer {
  if (unit.length > MAX_PARAMETER_SET) throw new SourceError('unreadable');
  return unit;
}

function h264Type(unit: Buffer): number {
  return (unit[0] ?? 0) & 0x1f;
}

function h265Type(unit: Buffer): number {
  return ((unit[0] ?? 0) >> 1) & 0x3f;
}

function indexOrUndefined(types: readonly number[], type: number): number | undefined {
  const index = types.indexOf(type);
  return index < 0 ? undefined : index;
}

/**
 * SEI whose first message is a recovery point (type 6): encoders with gradual intra refresh never send a type 5.
 */
function isRecoveryPoint(unit: Buffer): boolean {
  return h264Type(unit) === 6 && unit[1] === 6;
}

/** AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1) for units with lengths of four bytes. */
function avcConfiguration([sps = [], pps = []]: readonly (readonly Buffer[])[]): Buffer | undefined {
  const [first] = sps;
  if (!first || first.length < 4 || pps.length === 0) return undefined;
  const [, profile = 0, compatibility = 0, level = 0] = first;
  const head = Buffer.from([1, profile, compatibility, level, 0xff, 0xe0 | sps.length]);
  return Buffer.concat([head, ...sps.map(withShortLength), Buffer.from([pps.length]), ...pps.map(withShortLength)]);
}

/**
 * HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, 8.3.3.1). Decoders read everything from the sets themselves; of the
 * fields before the sets, profile and level are copied, the others are those of 4:2:0 with 8 bits.
 */
function hevcConfiguration([vps = [], sps = [], pps = []]: readonly (readonly Buffer[])[]): Buffer | undefined {
  const profile = withoutEmulation(sps[0] ?? Buffer.of()).subarray(3, 15);
  if (vps.length === 0 || pps.length === 0 || profile.length < 12) return undefined;
  const fixed = Buffer.from([0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0x0f, 3]);
  const arrays = [vps, sps, pps].map((units, index) =>
    Buffer.concat([Buffer.from([0xa0 | (32 + index), 0, units.length]), ...units.map(withShortLength)]),
  );
  return Buffer.concat([Buffer.of(1), profile, fixed, ...arrays]);
}

function withShortLength(unit: Buffer): Buffer {
  return Buffer.concat([Buffer.from([unit.length >> 8, unit.length & 0xff]), unit]);
}

/** The first bytes of a unit without the 3 of each 0 0 3 that keeps start codes out. */
function withoutEmulation(unit: Buffer): Buffer {
  const bytes: number[] = [];
  for (const byte of unit.subarray(0, 32)) {
    if (byte === 3 && bytes.at(-1) === 0 && bytes.at(-2) === 0) continue;
    bytes.push(byte);
  }
  return Buffer.from(bytes);
}
