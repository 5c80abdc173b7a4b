export interface JpegShape {
  width: number;
  height: number;
  /** Colour has half the height too (4:2:0); else half the width only (4:2:2). */
  isHalfHeight: boolean;
  /** Blocks between restart markers; 0 when there are none. */
  restartInterval: number;
  /** One or two quantisation tables of 64 bytes in zigzag order; one serves brightness and colour. */
  tables: readonly Buffer[];
}

/** Everything of a baseline JPEG before its scan data, with the usual Huffman tables (RFC 2435, appendix B). */
export function jpegHeader({ width, height, isHalfHeight, restartInterval, tables }: JpegShape): Buffer {
  const size = [height >> 8, height & 0xff, width >> 8, width & 0xff];
  const colour = tables.length > 1 ? 1 : 0;
  const components = [1, isHalfHeight ? 0x22 : 0x21, 0, 2, 0x11, colour, 3, 0x11, colour];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...tables.map((table, index) => segment(0xdb, Buffer.from([index]), table)),
    ...(restartInterval === 0 ? [] : [segment(0xdd, Buffer.from([restartInterval >> 8, restartInterval & 0xff]))]),
    segment(0xc0, Buffer.from([8, ...size, 3, ...components])),
    ...HUFFMAN_TABLES.map(({ id, counts, symbols }) => segment(0xc4, Buffer.from([id]), counts, symbols)),
    segment(0xda, Buffer.from([3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0])),
  ]);
}

/** Tables for a quality of 1 to 99 (RFC 2435, 4.2). */
export function scaledTables(q: number): Buffer[] {
  const factor = q < 50 ? Math.floor(5000 / q) : 200 - 2 * q;
  const scale = (value: number) => Math.min(255, Math.max(1, Math.floor((value * factor + 50) / 100)));
  return [BRIGHTNESS, COLOUR].map((table) => Buffer.from(table.map(scale)));
}

function segment(marker: number, ...content: Buffer[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 2);
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), ...content]);
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');

// ITU-T T.81, tables K.1 and K.2, in zigzag order.
const BRIGHTNESS = bytes(
  '100b0c0e0c0a100e0d0e1211101318281a181616183123251d283a333d3c3933' +
    '383740485c4e404457453738506d51575f626768673e4d71797064785c656763',
);
const COLOUR = bytes(
  '1112121815182f1a1a2f63423842636363636363636363636363636363636363' +
    '6363636363636363636363636363636363636363636363636363636363636363',
);

// ITU-T T.81, tables K.3 to K.6: brightness and colour, first DC, then AC.
const HUFFMAN_TABLES = [
  { id: 0x00, counts: bytes('00010501010101010100000000000000'), symbols: bytes('000102030405060708090a0b') },
  { id: 0x01, counts: bytes('00030101010101010101010000000000'), symbols: bytes('000102030405060708090a0b') },
  {
    id: 0x10,
    counts: bytes('0002010303020403050504040000017d'),
    symbols: bytes(
      '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738' +
        '393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4' +
        'a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
    ),
  },
  {
    id: 0x11,
    counts: bytes('00020102040403040705040400010277'),
    symbols: bytes(
      '0001020311040521310612415107617113223281081442' +
        '91a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a535455565758595a63646566' +
        '6768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7' +
        'c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa',
    ),
  },
];
