/** The accepted image formats (spec 4.6). */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/webp';

/** Number of bytes that `sniffImageType` needs. */
export const SNIFF_BYTES = 12;

/** The format by the signature at the beginning of a file; undefined for any other. The rest is not validated here. */
export function sniffImageType(head: Buffer): ImageType | undefined {
  if (head.subarray(0, 3).equals(JPEG)) return 'image/jpeg';
  if (head.subarray(0, 8).equals(PNG)) return 'image/png';
  if (head.subarray(0, 4).equals(RIFF) && head.subarray(8, 12).equals(WEBP)) return 'image/webp';
  return undefined;
}

/** Whether the Content-Type of a part names any accepted format. The bytes decide which format it is. */
export function isDeclaredImage(contentType: string): boolean {
  return DECLARED.has((contentType.split(';')[0] ?? '').trim().toLowerCase());
}

// image/jpg is not registered, but common.
const DECLARED = new Set(['image/jpeg', 'image/jpg', 'image/png', 'image/webp']);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const RIFF = Buffer.from('RIFF');
const WEBP = Buffer.from('WEBP');
