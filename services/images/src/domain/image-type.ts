/** The picture formats that are accepted (spec 4.6). */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/webp';

/** Bytes that `sniffImageType` needs to see. */
export const SNIFF_BYTES = 12;

/**
 * The format that the first bytes of a file claim, by the signatures of the formats; undefined for anything else. It
 * says nothing about whether the rest can be decoded.
 */
export function sniffImageType(head: Buffer): ImageType | undefined {
  if (head.subarray(0, 3).equals(JPEG)) return 'image/jpeg';
  if (head.subarray(0, 8).equals(PNG)) return 'image/png';
  if (head.subarray(0, 4).equals(RIFF) && head.subarray(8, 12).equals(WEBP)) return 'image/webp';
  return undefined;
}

/**
 * Whether the Content-Type of a part names an accepted format. The bytes decide which one it is, because clients often
 * declare a wrong type.
 */
export function isDeclaredImage(contentType: string): boolean {
  return DECLARED.has((contentType.split(';')[0] ?? '').trim().toLowerCase());
}

// image/jpg is no registered type, but common.
const DECLARED = new Set(['image/jpeg', 'image/jpg', 'image/png', 'image/webp']);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const RIFF = Buffer.from('RIFF');
const WEBP = Buffer.from('WEBP');
