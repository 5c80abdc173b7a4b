import { SourceError } from '@vision/streams/source-error';
import { MAX_SETS, MAX_SETS_OF_A_KIND } from '../video/nal-units.ts';

export interface CodecConfiguration {
  sets: Buffer[];
  /** Bytes of the length before each unit of a frame. */
  lengthBytes: number;
}

/** AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1). @throws SourceError `unreadable` */
export function readAvcConfiguration(bytes: Buffer): CodecConfiguration {
  const reader = createReader(bytes);
  const [version] = reader.take(4);
  const lengthBytes = lengthOf(reader.byte());
  if (version !== 1) throw new SourceError('unreadable');
  const sps = reader.units(reader.byte() & 0x1f);
  return { sets: [...sps, ...reader.units(reader.byte())], lengthBytes };
}

/** HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, 8.3.3.1). @throws SourceError `unreadable` */
export function readHevcConfiguration(bytes: Buffer): CodecConfiguration {
  const reader = createReader(bytes);
  const [version] = reader.take(21);
  const lengthBytes = lengthOf(reader.byte());
  if (version !== 1) throw new SourceError('unreadable');
  const sets: Buffer[] = [];
  for (let arrays = reader.byte(); arrays > 0; arrays -= 1) {
    reader.byte();
    sets.push(...reader.units(reader.number()));
  }
  return { sets, lengthBytes };
}

function lengthOf(byte: number): number {
  const length = (byte & 3) + 1;
  if (length === 3) throw new SourceError('unreadable');
  return length;
}

function createReader(bytes: Buffer) {
  let at = 0;
  let announced = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new SourceError('unreadable');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = () => take(2).readUInt16BE();
  /** A count takes its sender only two bytes, so it is checked before any unit is allocated. */
  const units = (count: number): Buffer[] => {
    announced += count;
    if (count > MAX_SETS_OF_A_KIND || announced > MAX_SETS) throw new SourceError('unreadable');
    return Array.from({ length: count }, () => Buffer.from(take(number())));
  };
  return {
    take,
    number,
    byte: () => take(1).readUInt8(),
    units,
  };
}
