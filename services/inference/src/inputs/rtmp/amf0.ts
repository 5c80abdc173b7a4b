import { SourceError } from '@vision/streams/source-error';

/** A value of Action Message Format 0, the language of RTMP commands. */
export type AmfValue = number | boolean | string | null | undefined | AmfValue[] | AmfObject;
/** A map and no object: names come from strangers. */
export type AmfObject = Map<string, AmfValue>;

const MAX_DEPTH = 8;
const MAX_VALUES = 1000;

const MARKER = { number: 0, boolean: 1, string: 2, object: 3, null: 5, undefined: 6, ecmaArray: 8, end: 9 };
const MORE = { strictArray: 10, date: 11, longString: 12 };

/**
 * All values of a command. @throws SourceError `unreadable` for what is cut off, nested too deep or of
 * kinds no server sends
 */
export function readAmf(bytes: Buffer): AmfValue[] {
  const reader = createReader(bytes);
  const values: AmfValue[] = [];
  while (reader.hasMore()) values.push(reader.value(0));
  return values;
}

export function writeAmf(values: readonly AmfValue[]): Buffer {
  return Buffer.concat(values.map(encode));
}

function createReader(bytes: Buffer) {
  let at = 0;
  let count = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new SourceError('unreadable');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const shortText = () => take(take(2).readUInt16BE()).toString('utf8');

  const members = (depth: number): AmfObject => {
    const object: AmfObject = new Map();
    for (let name = shortText(); !(name === '' && bytes[at] === MARKER.end); name = shortText()) {
      object.set(name, value(depth + 1));
    }
    take(1);
    return object;
  };

  const list = (depth: number): AmfValue[] => {
    const length = take(4).readUInt32BE();
    if (length > MAX_VALUES) throw new SourceError('unreadable');
    return Array.from({ length }, () => value(depth + 1));
  };

  const value = (depth: number): AmfValue => {
    count += 1;
    if (depth > MAX_DEPTH || count > MAX_VALUES) throw new SourceError('unreadable');
    switch (take(1).readUInt8()) {
      case MARKER.number:
        return take(8).readDoubleBE();
      case MARKER.boolean:
        return take(1)[0] !== 0;
      case MARKER.string:
        return shortText();
      case MARKER.object:
        return members(depth);
      case MARKER.ecmaArray:
        take(4);
        return members(depth);
      case MARKER.null:
        return null;
      case MARKER.undefined:
        return undefined;
      case MORE.strictArray:
        return list(depth);
      case MORE.date:
        return take(10).readDoubleBE();
      case MORE.longString:
        return take(take(4).readUInt32BE()).toString('utf8');
      default:
        throw new SourceError('unreadable');
    }
  };
  return { hasMore: () => at < bytes.length, value };
}

function encode(value: AmfValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([Buffer.of(MARKER.string), withLength(value)]);
  if (typeof value === 'boolean') return Buffer.of(MARKER.boolean, value ? 1 : 0);
  if (value === null) return Buffer.of(MARKER.null);
  if (value === undefined) return Buffer.of(MARKER.undefined);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (Array.isArray(value)) {
    const head = Buffer.alloc(5, MORE.strictArray);
    head.writeUInt32BE(value.length, 1);
    return Buffer.concat([head, ...value.map(encode)]);
  }
  const members = [...value].flatMap(([name, member]) => [withLength(name), encode(member)]);
  return Buffer.concat([Buffer.of(MARKER.object), ...members, Buffer.of(0, 0, MARKER.end)]);
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
}
