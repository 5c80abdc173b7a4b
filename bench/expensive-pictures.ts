import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { crc32, createDeflate } from 'node:zlib';
import sharp from 'sharp';
import type { Sharp } from 'sharp';

/** A picture that passes every check before decoding and costs as much processor time as one can get. */
export interface ExpensiveImage {
  name: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * What a search over JPEG (scans, sampling, entropy coding), PNG (depth, colour, interlacing, filters) and WebP (lossy,
 * lossless, alpha) at the limits of sides, pixels and bytes found to cost most. Interlaced PNGs of 16 bits win by far:
 * all of their pixels have to be unpacked and kept, and they compress a thousandfold.
 */
export async function expensiveImages(): Promise<ExpensiveImage[]> {
  const progressive = (await blocks(7_000)).jpeg({ progressive: true });
  const lossless = (await blocks(4_700)).webp({ lossless: true, effort: 0 });
  return [
    { name: 'just within the processor time of an image', type: 'image/png', bytes: await interlacedPng(5000, 16) },
    { name: 'beyond it', type: 'image/png', bytes: await interlacedPng(7000, 16) },
    { name: 'progressive JPEG', type: 'image/jpeg', bytes: await bytesOf(progressive) },
    { name: 'lossless WebP', type: 'image/webp', bytes: await bytesOf(lossless) },
  ];
}

/** The most expensive that are expected to be ordinary: just below the limit of what their structure makes expected. */
export async function expensiveOrdinaryImages(): Promise<ExpensiveImage[]> {
  const dense = (await noise(2_200)).jpeg({ quality: 88, chromaSubsampling: '4:4:4' });
  const progressive = (await noise(1_750)).jpeg({ progressive: true, quality: 90 });
  const lossy = (await noise(1_050)).webp({ quality: 95 });
  return [
    { name: 'baseline JPEG', type: 'image/jpeg', bytes: await bytesOf(dense) },
    { name: 'progressive JPEG', type: 'image/jpeg', bytes: await bytesOf(progressive) },
    { name: 'lossy WebP', type: 'image/webp', bytes: await bytesOf(lossy) },
    { name: 'interlaced PNG of 16 bits', type: 'image/png', bytes: await interlacedPng(999, 16) },
  ];
}

/** Where the pixels of the seven passes lie: first column and row, distance of columns and rows (PNG, section 8.2). */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
const PAETH = 4;
const RGBA = 6;

/** A square with alpha, each row filtered by the predictor that costs most. */
async function interlacedPng(side: number, depth: 8 | 16): Promise<Uint8Array<ArrayBuffer>> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([depth, RGBA, 0, 0, 1], 8);
  const deflate = createDeflate({ level: 9 });
  const compressed = buffer(deflate);
  for (const [column, row, columns, rows] of PASSES) {
    const width = Math.ceil((side - column) / columns);
    const height = Math.ceil((side - row) / rows);
    const line = Buffer.alloc(1 + (width * 4 * depth) / 8, 3);
    line[0] = PAETH;
    for (let at = 0; at < height; at += 1) if (!deflate.write(line)) await once(deflate, 'drain');
  }
  deflate.end();
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('IDAT', await compressed),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

async function noise(side: number): Promise<Sharp> {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const create = { width: side, height: side, channels: 3 as const, background: '#808080', noise };
  // Modules of inference make this process load no image files.
  const { data, info } = await sharp({ create }).raw().toBuffer({ resolveWithObject: true });
  return sharp(data, { raw: { width: info.width, height: info.height, channels: 3 } });
}

/** Coloured blocks: something to unpack everywhere. Their side is what fits in the bytes that a picture may have. */
async function blocks(side: number): Promise<Sharp> {
  return (await noise(875)).resize(side, side, { kernel: 'nearest' });
}

async function bytesOf(picture: Sharp): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await picture.toBuffer());
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
