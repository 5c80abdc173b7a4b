import { Mp4RefusedError } from './box.ts';

/**
 * Bytes of one entry in tables that begin with version, flags and a count of entries (ISO/IEC 14496-12, 8.6 and 8.7).
 */
const ENTRY_BYTES: Record<string, number> = {
  stts: 8,
  ctts: 8,
  stsc: 12,
  stco: 4,
  co64: 8,
  stss: 4,
  stps: 4,
  keys: 8,
  dref: 12,
};

/** A table holds what it declares. @throws Mp4RefusedError */
export function validateTable(type: string, data: Buffer): void {
  const entryBytes = ENTRY_BYTES[type];
  if (entryBytes !== undefined) demand(type, data, { countAt: 4, entryBytes });
  if (type === 'sbgp') demand(type, data, { countAt: data[0] === 1 ? 12 : 8, entryBytes: 8 });
  // Entries may be shorter than the length that each has before it, so a byte is the least.
  if (type === 'sgpd') demand(type, data, { countAt: [8, 12][data[0] ?? 0] ?? 16, entryBytes: 1 });
  if (type === 'sidx') demand(type, data, { countAt: data[0] === 0 ? 20 : 28, entryBytes: 12 });
  if (type === 'trun') demand(type, data, { countAt: 4, ...fieldsOf(data) });
}

interface Layout {
  countAt: number;
  /** Bytes between the count and the first entry. */
  gap?: number;
  entryBytes: number;
}

function demand(type: string, data: Buffer, { countAt, gap = 0, entryBytes }: Layout): void {
  const from = countAt + 4 + gap;
  const held = data.length - from;
  // The count of `sidx` has 16 bits, behind 16 that are reserved.
  const count = held < 0 ? 0 : type === 'sidx' ? data.readUInt16BE(countAt + 2) : data.readUInt32BE(countAt);
  if (held < 0 || count * entryBytes > held) throw new Mp4RefusedError(`'${type}' declares more than it holds`);
}

const OFFSET = 0x1;
const FIRST_FLAGS = 0x4;
const DURATION = 0x100;
const FIELDS = [DURATION, 0x200, 0x400, 0x800];

function fieldsOf(data: Buffer): { gap: number; entryBytes: number } {
  const flags = data.length < 4 ? 0 : data.readUIntBE(1, 3);
  const bytes = (wanted: number[]) => 4 * wanted.filter((flag) => (flags & flag) !== 0).length;
  return { gap: bytes([OFFSET, FIRST_FLAGS]), entryBytes: bytes(FIELDS) };
}

/** Samples of a track and how long they are shown, in units of its clock. */
export interface Samples {
  count: number;
  ticks: number;
}

/** Samples of one run of a fragment. The durations stand in the run, or the default counts for each. */
export function samplesOfRun(data: Buffer, defaultTicks: number): Samples {
  validateTable('trun', data);
  const count = data.readUInt32BE(4);
  const { gap, entryBytes } = fieldsOf(data);
  if ((data.readUIntBE(1, 3) & DURATION) === 0) return { count, ticks: count * defaultTicks };
  let ticks = 0;
  for (let at = 8 + gap, left = count; left > 0; left -= 1, at += entryBytes) ticks += data.readUInt32BE(at);
  return { count, ticks };
}

/** Time of all samples of `stts`. ffmpeg takes a duration that looks negative for the shortest one. */
export function ticksOfSamples(data: Buffer): number {
  validateTable('stts', data);
  let ticks = 0;
  for (let at = 8, left = data.readUInt32BE(4); left > 0; left -= 1, at += 8) {
    const duration = data.readUInt32BE(at + 4);
    ticks += data.readUInt32BE(at) * (duration > 0x7fffffff ? 1 : duration);
  }
  return ticks;
}

/** How many samples `stsz` or `stz2` counts: one size for all of them, or a size for each. @throws Mp4RefusedError */
export function countOfSizes(type: 'stsz' | 'stz2', data: Buffer): number {
  if (data.length < 12) throw new Mp4RefusedError(`'${type}' is incomplete`);
  const sizeOfAll = type === 'stsz' ? data.readUInt32BE(4) : 0;
  const bits = type === 'stsz' ? 32 : (data[7] ?? 0);
  const count = data.readUInt32BE(8);
  if (sizeOfAll === 0 && (count * bits) / 8 > data.length - 12) {
    throw new Mp4RefusedError(`'${type}' declares more than it holds`);
  }
  return count;
}
