import sharp from 'sharp';
import {
  chunk,
  manyScans,
  plainPng,
  strangers,
  street,
  textBombPng,
} from '../../../services/inference/test/support/images.ts';
import { form, jpeg } from '../../support/system.ts';
import type { Answer, Part } from '../../support/system.ts';
import type { Attack, AttackGroup } from '../attack.ts';
import { invalid, said } from '../say.ts';

const REFUSED = '201, failed OP-TASK-REQUEST-INVALID';
const FINE = '201, succeeded';
const NO_PICTURE = invalid('image_type_unsupported');

/** One call with one picture: the answer, and what became of the picture. */
const row = (
  name: string,
  expected: string,
  make: () => Promise<Buffer> | Buffer,
  over: Partial<Part> = {},
): Attack => ({
  name,
  expected,
  charged: expected === FINE ? 1 : 0,
  attempt: async (target) => {
    const caller = await target.caller();
    return outcome(await caller.detect(form(Object.assign(jpeg(await make()), over))));
  },
});

function outcome(answer: Answer): string {
  if (answer.status !== 201) return said(answer);
  const [first] = answer.body['results'] as { status: string; error_code?: string }[];
  return `201, ${[first?.status, first?.error_code].filter(Boolean).join(' ')}`;
}

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c81414' } });

/** A picture with parts put in after its first `at` bytes. */
const withParts = (picture: Buffer, at: number, parts: Buffer[]) =>
  Buffer.concat([picture.subarray(0, at), ...parts, picture.subarray(at)]);
const PNG_HEADER = 33;

async function frames(count: number): Promise<Buffer> {
  const still = await plain(16, 16).webp().toBuffer();
  const canvas = Buffer.from('VP8X\x0a\0\0\0\x02\0\0\0\x0f\0\0\x0f\0\0ANIM\x06\0\0\0\0\0\0\0\0\0', 'latin1');
  const head = Buffer.from('\0\0\0\0\0\0\x0f\0\0\x0f\0\0\x64\0\0\0', 'latin1');
  const data = Buffer.concat([head, still.subarray(12)]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length);
  const body = Buffer.concat([canvas, ...Array<Buffer>(count).fill(Buffer.concat([Buffer.from('ANMF'), size, data]))]);
  const whole = Buffer.alloc(4);
  whole.writeUInt32LE(body.length + 4);
  return Buffer.concat([Buffer.from('RIFF'), whole, Buffer.from('WEBP'), body]);
}

/** The same JPEG, said to be larger than it is. */
async function declared(width: number, height: number): Promise<Buffer> {
  const bytes = await plain(16, 16).jpeg().toBuffer();
  const at = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, at + 5);
  bytes.writeUInt16BE(width, at + 7);
  return bytes;
}

/** Of a picture of many scans that is within 8 MiB and beyond the processor time that a picture may take. */
const SIDE = 1_000;

export const pictures: AttackGroup = {
  title: 'Hostile images',
  wanted: 'the processor or the memory of all, a loader for another format, or a fault of the decoder',
  withinMs: 25_000,
  atOnce: 4,
  attacks: [
    row('a progressive JPEG of 3,000 scans', REFUSED, () => manyScans(3_000, 64)),
    row('a progressive JPEG of 95 scans', REFUSED, () => manyScans(85, SIDE)),
    row('3,000 scans behind a stray byte', REFUSED, async () => {
      const bytes = await manyScans(3_000, 64);
      return withParts(bytes, bytes.indexOf(Buffer.from([0xff, 0xda])), [Buffer.of(0)]);
    }),
    row('a JPEG of 65,535 × 65,535 pixels hidden in front of a small one', REFUSED, async () =>
      Buffer.concat([
        Buffer.from([0xff, 0xd8, 0xff, 0x00, 0x00, 0x19]),
        (await declared(65_535, 65_535)).subarray(2),
        street.subarray(2),
      ]),
    ),
    row('a PNG of 1 × 50,000,000 pixels', REFUSED, () => plainPng(1, 50_000_000)),
    row('a PNG of 60,000 × 60,000 pixels', REFUSED, () => {
      const bytes = plainPng(8, 8);
      bytes.writeUInt32BE(60_000, 16);
      bytes.writeUInt32BE(60_000, 20);
      return bytes;
    }),
    row('a JPEG of 65,535 × 65,535 pixels', REFUSED, () => declared(65_535, 65_535)),
    row('a JPEG of 7,000 × 7,000 pixels that are not there', FINE, () => declared(7_000, 7_000)),
    row('a PNG without width', REFUSED, () => {
      const bytes = plainPng(8, 8);
      bytes.writeUInt32BE(0, 16);
      return bytes;
    }),
    row('200 texts in a PNG that unpack to 1.6 GB', FINE, textBombPng),
    row('a colour profile that unpacks to hundreds of megabytes', REFUSED, () =>
      withParts(plainPng(8, 8), PNG_HEADER, [chunk('iCCP', Buffer.alloc(200_000))]),
    ),
    row('a PNG of 100,000 chunks', REFUSED, () =>
      withParts(plainPng(8, 8), PNG_HEADER, Array<Buffer>(100_000).fill(chunk('tEXt', Buffer.from('a\0b')))),
    ),
    row('a PNG with two headers', REFUSED, () =>
      withParts(plainPng(8, 8), PNG_HEADER, [plainPng(9_000, 1).subarray(8, PNG_HEADER)]),
    ),
    row('a PNG that breaks off', REFUSED, async () => (await plain(640, 480).png().toBuffer()).subarray(0, 200)),
    row('a WebP of 5,000 frames', REFUSED, () => frames(5_000)),
    row('a WebP whose canvas is 16,384 pixels wide', REFUSED, async () => {
      const bytes = await frames(1);
      bytes.writeUIntLE(16_383, 24, 3);
      return bytes;
    }),
    row('a JPEG that breaks off', REFUSED, () => street.subarray(0, 5_000)),
    row('a JPEG of nothing but its beginning', REFUSED, () =>
      Buffer.concat([street.subarray(0, 20), Buffer.alloc(5_000)]),
    ),
    row('an archive behind a JPEG', FINE, () => Buffer.concat([street, Buffer.from('PK\x03\x04<script>')])),
    row('a page in a JPEG', REFUSED, () =>
      Buffer.concat([street.subarray(0, 4), Buffer.from('<html><script>alert(1)</script>')]),
    ),
    row('an SVG in the clothes of a PNG', REFUSED, () =>
      Buffer.concat([plainPng(8, 8).subarray(0, PNG_HEADER), strangers['svg'] ?? Buffer.of()]),
    ),
    row('an SVG', NO_PICTURE, () => strangers['svg'] ?? Buffer.of()),
    row('a GIF', NO_PICTURE, () => strangers['gif'] ?? Buffer.of()),
    row('a PDF', NO_PICTURE, () => Buffer.from('%PDF-1.7 0000000000000')),
    row('nothing', NO_PICTURE, () => Buffer.of()),
    row('an image that is declared as a page', NO_PICTURE, () => street, { type: 'text/html' }),
    row('a file name with a path', FINE, () => street, { filename: '../../../../etc/passwd' }),
    row('8 MiB and a byte', invalid('image_too_large'), () =>
      Buffer.concat([street, Buffer.alloc(8 * 1024 * 1024 + 1 - street.length)]),
    ),
    {
      name: 'ten expensive images at once, beside an honest one',
      expected: `${FINE}; the others ${REFUSED}`,
      charged: 1,
      withinMs: 40_000,
      attempt: async (target) => {
        const [attacker, honest] = [await target.caller(), await target.caller()];
        const bomb = await manyScans(85, SIDE);
        const flood = attacker.detect(form(...Array.from({ length: 10 }, () => jpeg(bomb))));
        const own = await honest.detect(form(jpeg(street)));
        return `${outcome(own)}; the others ${outcome(await flood)}`;
      },
    },
  ],
};
