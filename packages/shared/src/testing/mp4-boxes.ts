/** Boxes of MP4, made and changed for tests. */

export const box = (type: string, ...parts: Buffer[]): Buffer => {
  const data = Buffer.concat(parts);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(data.length + 8);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, data]);
};

export const words = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeInt32BE(value | 0, 4 * index));
  return bytes;
};

interface Found {
  type: string;
  data: Buffer;
}

/** The boxes beside each other in `bytes`, without 64-bit sizes. */
export function boxesOf(bytes: Buffer): Found[] {
  const found: Found[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const end = at + bytes.readUInt32BE(at);
    found.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, end) });
    at = end;
  }
  return found;
}

/** The same boxes with those of one type replaced. */
export const replaceBox = (bytes: Buffer, type: string, make: (data: Buffer) => Buffer): Buffer =>
  Buffer.concat(boxesOf(bytes).map((one) => (one.type === type ? make(one.data) : box(one.type, one.data))));

/** Changes the box at `path`, for files whose index follows the frames. */
export function changeAt(bytes: Buffer, [type = '', ...rest]: string[], change: (data: Buffer) => Buffer): Buffer {
  return replaceBox(bytes, type, (data) => box(type, rest.length === 0 ? change(data) : changeAt(data, rest, change)));
}

const ONE = 0x10000;

/** A track header whose matrix begins with these, rows first, in units of a whole number. */
export function withMatrix(header: Buffer, [a = 0, b = 0, c = 0, d = 0]: number[], at = 40): Buffer {
  const changed = Buffer.from(header);
  [a * ONE, b * ONE, 0, c * ONE, d * ONE].forEach((value, index) =>
    changed.writeInt32BE(Math.round(value), at + 4 * index),
  );
  return changed;
}
