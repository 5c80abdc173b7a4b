import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import type { Sharp } from 'sharp';

/** A street with four people in plain view. */
export const street = readFileSync(new URL('../../../../examples/street.jpg', import.meta.url));

/** A real PNG of one colour, one bit per pixel: huge in pixels, small in bytes. */
export function plainPng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** One chunk of a PNG, with its checksum. */
export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** A small PNG of a few hundred kilobytes whose compressed text unpacks to more than 1.5 GB. */
export function textBombPng(): Buffer {
  const text = Buffer.concat([Buffer.from('k\0\0'), deflateSync(Buffer.alloc(8_000_000, 65), { level: 9 })]);
  const plain = plainPng(64, 64);
  const header = plain.subarray(0, 33);
  return Buffer.concat([header, ...Array.from({ length: 200 }, () => chunk('zTXt', text)), plain.subarray(33)]);
}

/** Left half one colour, right half another. */
export function halves(left: string, right: string, { width, height }: { width: number; height: number }): Sharp {
  const half = { width: width / 2, height, channels: 3 as const, background: right };
  return sharp({ create: { width, height, channels: 3, background: left } }).composite([
    { input: { create: half }, left: width / 2, top: 0 },
  ]);
}

/** A progressive JPEG whose last scan is repeated: few bytes, but each scan takes work for the whole image. */
export async function manyScans(count: number, side: number): Promise<Buffer> {
  const noise = sharp({
    create: {
      width: side,
      height: side,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  });
  const picture = await noise.jpeg({ progressive: true, quality: 30 }).toBuffer();
  const last = picture.lastIndexOf(Buffer.from([0xff, 0xda]));
  const body = picture.subarray(last, picture.length - 2);
  return Buffer.concat([picture.subarray(0, last), ...Array<Buffer>(count).fill(body), picture.subarray(-2)]);
}

/** Files that are no JPEG, PNG or WebP, although a library might open them. */
export const strangers: Record<string, Buffer> = {
  svg: Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>',
  ),
  gif: Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64'),
  text: Buffer.from('hello'),
  empty: Buffer.alloc(0),
};
